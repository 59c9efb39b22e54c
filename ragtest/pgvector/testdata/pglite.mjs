// Serves PGlite, a PostgreSQL in one process, with pgvector on a free port of
// the loopback interface, and prints a connection string for it.
//
// PGlite has one session, which all connections share one after the other: hence
// one connection at a time (the server admits more, since it learns late that one
// is gone) and, since prepared statements outlive connections, no cache of them.
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'

const db = await PGlite.create({ extensions: { vector } })
await db.exec('CREATE EXTENSION vector')
const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: 0, maxConnections: 10 })
await server.start()
console.log(`postgres://postgres@${server.getServerConn()}/postgres?sslmode=disable&pool_max_conns=1&default_query_exec_mode=exec`)
