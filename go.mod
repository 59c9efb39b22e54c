module github.com/rageval/rageval

go 1.26

require (
	github.com/clipperhouse/uax29/v2 v2.7.0
	github.com/google/go-cmp v0.7.0
	github.com/kljensen/snowball v0.10.0
)
