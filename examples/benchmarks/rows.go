package main

import "fmt"

const peers = "internal/peers"

// table lists what is measured. A further row is all that a further ratio takes.
var table = concat(
	recursive(),
)

func concat(lists ...[]row) (all []row) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

func recursive() (rows []row) {
	name := func(impl string, size int) string {
		return fmt.Sprintf("RecursiveCharacter/impl=%s/size=%d/overlap=0", impl, size)
	}
	for _, s := range []struct {
		size int
		want float64
	}{{200, 7}, {400, 4}, {800, 4}} {
		rows = append(rows, row{
			what: fmt.Sprintf("RecursiveCharacter, %d characters, against langchaingo without positions", s.size),
			dir:  peers, ours: name("rageval", s.size), theirs: name("langchaingo", s.size), want: s.want,
		})
	}
	for _, size := range []int{200, 400, 800} {
		rows = append(rows, row{
			what: fmt.Sprintf("RecursiveCharacter, %d characters, against looking at every byte of the text", size),
			dir:  peers, ours: name("rageval", size), theirs: name("tablescan", size), slower: true, want: 2.5,
		})
	}
	return rows
}
