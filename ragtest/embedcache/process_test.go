package embedcache

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// childEnv makes TestChild, run in a process of its own, do as it says.
const childEnv = "RAGTEST_EMBEDCACHE_CHILD"

// child returns the command of a process that runs role on the file at path.
func child(t *testing.T, path, role string, args ...int) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestChild$")
	value := role
	for _, a := range args {
		value += " " + strconv.Itoa(a)
	}
	cmd.Env = append(os.Environ(), childEnv+"="+value, childEnv+"_PATH="+path)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestChild(t *testing.T) {
	fields := strings.Fields(os.Getenv(childEnv))
	if len(fields) == 0 {
		t.Skip("runs in the processes that other tests start")
	}
	args := make([]int, len(fields)-1)
	for i, f := range fields[1:] {
		args[i], _ = strconv.Atoi(f)
	}
	path := os.Getenv(childEnv + "_PATH")
	switch fields[0] {
	case "embed": // seed, number of texts: small calls that overlap with other processes'
		c := mustOpen(t, path, &fake{dim: 16}, model)
		random := rand.New(rand.NewPCG(1, uint64(args[0])))
		texts := numberedTexts(args[1])
		random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		for batch := range slices.Chunk(texts, 7) {
			for i, v := range mustEmbed(t, c, batch...) {
				if !slices.Equal(v, vectorOf(batch[i], 16)) {
					t.Errorf("got another text's vector for %s", batch[i])
				}
			}
			if random.IntN(20) == 0 {
				if err := c.Record(); err != nil {
					t.Error(err)
				}
			}
		}
	case "forever": // first text, dimension: one after the other, each told when it is done
		c := mustOpen(t, path, &fake{dim: args[1]}, model)
		for i := args[0]; ; i++ {
			mustEmbed(t, c, strconv.Itoa(i))
			fmt.Println("done", i)
			if i%20 == 19 {
				if err := c.Record(); err != nil {
					t.Error(err)
				}
			}
		}
	case "half": // dimension: writes one record, and half of another
		c := mustOpen(t, path, &fake{dim: args[0]}, model)
		mustEmbed(t, c, "whole")
		_, record, _ := strings.Cut(sortedFile(t, args[0], "half"), "\n")
		if _, err := lock(t.Context(), c.file.path); err != nil {
			t.Fatal(err)
		}
		w, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteString(record[:len(record)/2]); err != nil {
			t.Fatal(err)
		}
		fmt.Println("half")
		time.Sleep(time.Hour)
	}
}

// A process that is killed while it holds the lock and has written half a record.
func TestKilledInTheMiddle(t *testing.T) {
	path := newPath(t)
	const dim = 100
	cmd := child(t, path, "half", dim)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "half\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	c := mustOpen(t, path, &fake{dim: dim}, model)
	mustEmbed(t, c, "whole")
	if got := c.Stats(); got.Records != 1 || got.Embedded != 0 || c.file.scan.tail == nil {
		t.Errorf("while it writes: got %+v, tail %v", got, c.file.scan.tail)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := c.Embed(ctx, []string{"new"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it writes: got error %v, want that of the context", err)
	}
	waiting := make(chan error)
	go func() {
		_, err := c.Embed(t.Context(), []string{"newer"})
		waiting <- err
	}()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the process was not killed")
	}
	if err := <-waiting; err != nil {
		t.Error(err)
	}
	if err := c.Record(); err != nil || readFile(t, path) != sortedFile(t, dim, "whole", "newer") {
		t.Errorf("%v, want the two records that were written whole", err)
	}
	if got := entries(t, filepath.Dir(path)); !slices.Equal(got, []string{"m.embeddings"}) {
		t.Errorf("got the files %q, want only the cache", got)
	}
}

// Processes that add and rewrite at once lose nothing.
func TestProcessesAtOnce(t *testing.T) {
	path := newPath(t)
	const texts, processes = 400, 4
	watch := mustOpen(t, path, &fake{dim: 16}, model)
	ctx, stop := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { // reads all the while
		for i := 0; ctx.Err() == nil; i++ {
			if _, err := watch.Embed(t.Context(), []string{fmt.Sprintf("text %d", i%texts)}); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() {
			cmd := child(t, path, "embed", i, texts)
			if out, err := cmd.Output(); err != nil {
				t.Errorf("process %d: %v\n%s", i, err, out)
			}
		})
	}
	wg.Wait()
	stop()
	watching.Wait()

	e := &fake{dim: 16}
	c := mustOpen(t, path, e, model)
	for i, v := range mustEmbed(t, c, numberedTexts(texts)...) {
		if !slices.Equal(v, vectorOf(fmt.Sprintf("text %d", i), 16)) {
			t.Errorf("got another text's vector for text %d", i)
		}
	}
	if got := c.Stats(); got.Embedded != 0 || got.Records != texts {
		t.Errorf("got %+v, want no text embedded", got)
	}
	if err := c.Record(); err != nil || readFile(t, path) != sortedFile(t, 16, numberedTexts(texts)...) {
		t.Errorf("%v, the file differs from one written at once", err)
	}
	if lines := strings.Count(readFile(t, path), "\n"); lines != texts+1 {
		t.Errorf("got %d lines, want %d", lines, texts+1)
	}
}

// A process that is killed at any moment loses at most the record that it was
// writing, and its lock.
func TestKilled(t *testing.T) {
	path := newPath(t)
	random := rand.New(rand.NewPCG(3, 4))
	const dim = 50_000 // a quarter of a megabyte each, so that writing takes the most of the time
	done := map[string]bool{}
	torn := 0
	for range 10 {
		cmd := child(t, path, "forever", len(done), dim)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var timer *time.Timer
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "done "); ok {
				done[text] = true
			} else {
				t.Errorf("the process says: %s", lines.Text())
			}
			if timer == nil {
				timer = time.AfterFunc(time.Duration(random.IntN(10_000))*time.Microsecond, func() { cmd.Process.Kill() })
			}
		}
		if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("got %v, want the process killed", err)
		}
		if timer != nil {
			timer.Stop()
		}

		c, err := Open(path, &fake{dim: dim}, model)
		if err != nil {
			t.Fatal(err)
		}
		if c.file.scan.tail != nil {
			torn++
		}
		if got := c.Stats().Records; got < len(done) || got > len(done)+1 {
			t.Errorf("got %d records after %d texts were embedded", got, len(done))
		}
		for text := range done {
			mustEmbed(t, c, text)
		}
		if got := c.Stats().Embedded; got != 0 {
			t.Errorf("%d texts that were embedded are lost", got)
		}
		last := strconv.Itoa(len(done) - 1)
		if v := mustEmbed(t, c, last); !slices.Equal(v[0], vectorOf(last, dim)) {
			t.Errorf("got another text's vector for %s", last)
		}
		// The killed process's lock is free, and its incomplete record is cut off.
		next := strconv.Itoa(len(done))
		mustEmbed(t, c, next)
		done[next] = true
		if c.file.scan.tail != nil {
			t.Errorf("got the tail %v after a write", c.file.scan.tail)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d records; %d of 10 processes left an incomplete one", len(done), torn)
}
