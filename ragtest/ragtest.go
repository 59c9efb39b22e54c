// Package ragtest tests the retrieval half of RAG systems with go test.
package ragtest
