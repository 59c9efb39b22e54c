#!/usr/bin/env bash
# Runs a command against a full PostgreSQL 17 with pgvector 0.8:
#
#	postgres17.sh DIR COMMAND [ARGUMENT…]
#
# builds a Debian 13 in DIR, unless one is there already, starts the server of
# its packages on a free port of the loopback interface with an empty data
# directory, runs the command with RAGTEST_PG_DSN set, and stops the server. Its
# exit status is the command's. It needs root, Debian's debootstrap and its
# package archive; the first run takes one to two minutes and 500 MB.
set -euo pipefail

if [ $# -lt 2 ] || [ "$(id -u)" -ne 0 ]; then
	echo "usage, as root: $0 DIR COMMAND [ARGUMENT…]" >&2
	exit 2
fi
root=$(realpath -m "$1")
shift

if [ ! -e "$root/built" ]; then
	debootstrap --variant=minbase --include=postgresql-17,postgresql-17-pgvector trixie "$root" >&2
	touch "$root/built"
fi

bin=/usr/lib/postgresql/17/bin
run=$(mktemp -d "$root/var/lib/postgresql/run.XXXXXX")
inside=${run#"$root"}
as() { chroot --userspec=postgres:postgres "$root" env LC_ALL=C.UTF-8 "$@"; }
trap 'as $bin/pg_ctl stop --silent --mode=immediate --pgdata="$inside/data" >&2 || true; rm -rf "$run"' EXIT

echo "a password" >"$run/password"
chroot "$root" chown -R postgres:postgres "$inside"
as $bin/initdb --auth=scram-sha-256 --pwfile="$inside/password" --encoding=UTF8 --no-sync --pgdata="$inside/data" >/dev/null

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# A chroot has no /dev/shm: shared memory is in files. What is lost in a crash
# does not matter.
cat >>"$run/data/postgresql.conf" <<-END
	listen_addresses = '127.0.0.1'
	port = $port
	unix_socket_directories = ''
	dynamic_shared_memory_type = mmap
	fsync = off
	shared_buffers = 1GB
	maintenance_work_mem = 1GB
	max_wal_size = 8GB
END
as $bin/pg_ctl start --silent --wait --pgdata="$inside/data" --log="$inside/log" >&2
dsn="postgres://postgres:a%20password@127.0.0.1:$port/postgres"
as env PGPASSWORD="a password" psql --host=127.0.0.1 --port="$port" --quiet --command='CREATE EXTENSION vector' >&2
RAGTEST_PG_DSN=$dsn "$@"
