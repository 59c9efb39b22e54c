package tokens

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/internal/realdata"
)

// tiktokenRecord is what testdata/tiktoken/record.mjs recorded.
type tiktokenRecord struct {
	Texts []struct {
		Text          string
		CL100K, O200K []int
	}
	Long []struct {
		Text   string
		Repeat int
		encodingDigests
	}
	Alphabet []string
	Triples  []struct {
		First string
		encodingDigests
	}
	Random struct {
		Texts int
		encodingDigests
	}
	Newer      [][]rune // characters, or the first and the last of several
	Characters []struct {
		Block      rune
		Characters int
		encodingDigests
	}
	Files, Paragraphs []struct {
		File string
		encodingDigests
	}
}

// encodingDigests are the digests of the IDs of some texts.
type encodingDigests struct{ CL100K, O200K digest }

// check compares the IDs of texts with those recorded.
func (want encodingDigests) check(t *testing.T, what string, texts iter.Seq[string]) {
	t.Helper()
	for encoding, want := range map[Encoding]digest{CL100K: want.CL100K, O200K: want.O200K} {
		hash := sha256.New()
		got := digest{}
		var ids []int
		var bytes []byte
		for text := range texts {
			ids = encoding.AppendIDs(ids[:0], text)
			got.Count += len(ids)
			bytes = binary.LittleEndian.AppendUint32(bytes[:0], uint32(len(ids)))
			for _, id := range ids {
				bytes = binary.LittleEndian.AppendUint32(bytes, uint32(id))
			}
			hash.Write(bytes)
			if n := encoding.Count(text); n != len(ids) {
				t.Errorf("%s: Count of the %v tokens of %.40q: got %d, want %d", what, encoding, text, n, len(ids))
			}
		}
		got.SHA256 = hex.EncodeToString(hash.Sum(nil))
		if got != want {
			t.Errorf("%s: IDs of the %v tokens: got %v, tiktoken gives %v", what, encoding, got, want)
		}
	}
}

func readTiktoken(t *testing.T) (r tiktokenRecord) {
	t.Helper()
	content, err := os.ReadFile("testdata/tiktoken.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &r); err != nil {
		t.Fatalf("testdata/tiktoken.json: %v", err)
	}
	if len(r.Texts) == 0 || len(r.Long) == 0 || len(r.Triples) == 0 || len(r.Characters) == 0 || len(r.Files) == 0 || len(r.Paragraphs) == 0 {
		t.Fatal("testdata/tiktoken.json lacks records")
	}
	return r
}

func TestIDsAreTiktokens(t *testing.T) {
	r := readTiktoken(t)
	for _, r := range r.Texts {
		for encoding, want := range map[Encoding][]int{CL100K: r.CL100K, O200K: r.O200K} {
			if diff := cmp.Diff(want, encoding.AppendIDs([]int{}, r.Text)); diff != "" {
				t.Errorf("IDs of the %v tokens of %q (-tiktoken, +ours):\n%s", encoding, r.Text, diff)
			}
		}
	}
	for _, r := range r.Long {
		r.check(t, r.Text+" repeated", slices.Values([]string{strings.Repeat(r.Text, r.Repeat)}))
	}
}

// All texts of three items of an alphabet that has all that the expressions tell
// apart, and random longer ones.
func TestIDsOfAllShortTextsAreTiktokens(t *testing.T) {
	r := readTiktoken(t)
	for _, triple := range r.Triples {
		triple.check(t, "texts that begin with "+triple.First, func(yield func(string) bool) {
			for _, b := range r.Alphabet {
				for _, c := range r.Alphabet {
					if !yield(triple.First + b + c) {
						return
					}
				}
			}
		})
	}
	r.Random.check(t, "random texts", func(yield func(string) bool) {
		state := uint32(2463534242)
		random := func(n int) int {
			state ^= state << 13
			state ^= state >> 17
			state ^= state << 5
			return int(state % uint32(n))
		}
		for range r.Random.Texts {
			var text strings.Builder
			for range 4 + random(20) {
				text.WriteString(r.Alphabet[random(len(r.Alphabet))])
			}
			if !yield(text.String()) {
				return
			}
		}
	})
}

// Every character that Unicode 15.0 has is of the class that it has for tiktoken.
func TestIDsOfAllCharactersAreTiktokens(t *testing.T) {
	r := readTiktoken(t)
	newer := func(c rune) bool {
		return slices.ContainsFunc(r.Newer, func(of []rune) bool { return of[0] <= c && c <= of[len(of)-1] })
	}
	for _, block := range r.Characters {
		var texts []string
		for c := block.Block; c < block.Block+0x400; c++ {
			if unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf) && !newer(c) {
				s := string(c)
				texts = append(texts, "x"+s+"x"+s+s+"X "+s+"a'"+s+"t"+s+"\n"+s)
			}
		}
		if len(texts) != block.Characters {
			t.Errorf("characters from %U on: got %d, want %d", block.Block, len(texts), block.Characters)
		}
		block.check(t, string(block.Block)+" and what follows", slices.Values(texts))
	}
}

func TestIDsOfRealTextAreTiktokens(t *testing.T) {
	r := readTiktoken(t)
	dir := realdata.Dir(t, "data")
	for _, r := range r.Files {
		content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(r.File)))
		if err != nil {
			t.Fatal(err)
		}
		r.check(t, r.File, slices.Values([]string{string(content)}))
	}
	for _, r := range r.Paragraphs {
		r.check(t, "paragraphs of "+r.File, slices.Values(corpusTexts(t, r.File)))
	}
}
