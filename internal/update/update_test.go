package update

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestSwitch(t *testing.T) {
	for value, want := range map[string]bool{"1": true, "true": true, "0": false, "false": false, "": false} {
		t.Setenv(Env, value)
		if got, err := Switch(Env); err != nil || got != want {
			t.Errorf("%s=%s: got %v, %v, want %v", Env, value, got, err, want)
		}
	}
	for _, value := range []string{"yes", "TRUE", "2", " "} {
		t.Setenv(Env, value)
		if _, err := Switch(Env); err == nil || !strings.Contains(err.Error(), `RAGTEST_UPDATE="`+value+`": want 1, true, 0, false or nothing`) {
			t.Errorf("%s=%s: got error %v", Env, value, err)
		}
	}
}

// named is a testing.TB of another name.
type named struct {
	testing.TB
	name string
}

func (n named) Name() string { return n.name }

func TestCommand(t *testing.T) {
	for name, want := range map[string]string{
		"TestX":                  "-run '^TestX$' ",
		"TestX/recursive_size=2": "-run '^TestX$/^recursive_size=2$' ",
		"TestX/a.b|c#01":         `-run '^TestX$/^a\.b\|c#01$' `,
		"FuzzX/it's":             `-run '^FuzzX$/^it'\''s$' `,
	} {
		wantText(t, Command(named{t, name}), "RAGTEST_UPDATE=1 go test "+want)
		// The pattern selects the test.
		if elem := strings.Split(name, "/")[0]; !regexp.MustCompile("^" + elem + "$").MatchString(elem) {
			t.Errorf("%s is not selected", name)
		}
	}
	dir := filepath.Join(t.TempDir(), "a b")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	wantText(t, Command(named{t, "TestX"}), " '"+dir+"'")
	wantText(t, Command(nil), "RAGTEST_UPDATE=1 go test '"+dir+"'")
	testing.Benchmark(func(b *testing.B) {
		wantText(t, Command(b), "go test -run '^$' -bench '")
	})
}

func wantText(t *testing.T, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("got %q, want it to hold %q", got, want)
	}
}
