package chromem

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// names gives the chunks of a collection their document IDs: the place of the
// chunk in the order of insertion, "0", "1", … . A place whose hash is that of
// an earlier one, or of the file that describes the collection, gets the first
// of "77000.1", "77000.2", … whose hash is not. IDs depend on nothing but the
// place, so they need not be stored. The zero value is ready for use.
type names struct {
	mu   sync.Mutex
	ids  []string
	used map[uint32]bool
}

// fileHash is what chromem-go names a document's file by.
func fileHash(id string) uint32 {
	sum := sha256.Sum256([]byte(id))
	return binary.BigEndian.Uint32(sum[:])
}

// at returns the ID of the i-th chunk.
func (n *names) at(i int) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.used == nil {
		n.used = map[uint32]bool{0: true} // 00000000.gob describes the collection
	}
	for len(n.ids) <= i {
		place := strconv.Itoa(len(n.ids))
		id := place
		for variant := 1; n.used[fileHash(id)]; variant++ {
			id = place + "." + strconv.Itoa(variant)
		}
		n.used[fileHash(id)] = true
		n.ids = append(n.ids, id)
	}
	return n.ids[i]
}

// index returns the place of the chunk with the given ID: one of the first count.
func (n *names) index(id string, count int) (int, error) {
	place, _, _ := strings.Cut(id, ".")
	i, err := strconv.Atoi(place)
	if err != nil || i < 0 || i >= count || n.at(i) != id {
		return 0, fmt.Errorf("the collection holds a document %q that was not added by this package", id)
	}
	return i, nil
}
