module github.com/rageval/rageval

go 1.26

require github.com/google/go-cmp v0.7.0

require github.com/philippgille/chromem-go v0.7.0
