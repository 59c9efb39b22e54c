module github.com/rageval/rageval

go 1.26
