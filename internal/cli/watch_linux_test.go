package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

func (s *seat) puts(name, text string) {
	s.Helper()
	file := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		s.Fatal(err)
	}
	// As editors do: a new file, put in the place of the old.
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		s.Fatal(err)
	}
}

// TestWatched: a watched tool runs again when its definition changes, a definition that it uses, a
// file that its cache depends on, or a file of --watch-path. Errors in a definition are reported,
// and watching continues. Parameters are asked for only once. Ctrl-C exits with the code of the
// last run.
func TestWatched(t *testing.T) {
	s := sit(t, `
parameters: {WHO: {type: string, description: whom, required: true}}
steps:
  - name: use
    use-tool: ./inner.yaml
  - name: cached
    bash: cat in/*.txt > out; echo "cached $(cat out)"
    cache: {inputs: ["in/*.txt"], outputs: [out]}
  - name: say
    bash: echo "hello {WHO} one"
`, nil, "--watch", "--watch-path", "more", "--no-input=false")
	// sit has started it: what it uses is not there yet.
	s.shows("watching 1 file; press Ctrl-C to stop")
	if screen := s.seen(); !strings.Contains(screen, "inner.yaml") {
		t.Errorf("it did not say that inner.yaml is missing:\n%s", screen)
	}
	s.puts("in/a.txt", "first")
	s.puts("inner.yaml", "name: inner\ndescription: Inner\nbash: echo inner\n")
	s.puts("it.yaml", strings.Replace(s.definition("it.yaml"), "one", "two", 1))
	s.shows("WHO: ")
	s.types("Ada\r")
	s.shows("hello Ada two")
	s.shows("watching 3 files; press Ctrl-C to stop")
	s.puts("in/b.txt", "second")
	s.shows("changed: in/b.txt; rerunning")
	s.shows("watching 4 files; press Ctrl-C to stop")
	s.puts("more", "x")
	s.shows("changed: more; rerunning")
	s.shows("watching 5 files; press Ctrl-C to stop")
	s.puts("inner.yaml", "name: inner\ndescription: Inner\nbsah: no\n")
	s.shows(`unknown key "bsah"`)
	s.shows("did you mean")
	s.puts("inner.yaml", "name: inner\ndescription: Inner\nbash: echo mended; exit 3\n")
	s.shows("FAILED   exit 3")
	failed := strings.Index(s.seen(), "FAILED   exit 3")
	waittest.Until(s, "how to end it", func() bool { return strings.Contains(s.seen()[failed:], "press Ctrl-C to stop") }, func() any { return s.seen() })
	s.types("\x03")
	screen := s.ends(1)
	if strings.Count(screen, "WHO (string)") != 1 {
		t.Errorf("it asked again:\n%s", screen)
	}
}

func (s *seat) definition(name string) string {
	s.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.Fatal(err)
	}
	return string(b)
}
