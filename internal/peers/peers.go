// Package peers measures the library side by side with others that do the same
// work. It is a module of its own, so that no user of the library downloads
// them.
//
//	RAGTEST_DATA=… go test -bench=RecursiveCharacter -count=6 | benchstat -col /impl -
package peers
