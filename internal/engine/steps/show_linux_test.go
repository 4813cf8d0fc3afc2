package steps

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/dag"
)

// The log of a running step can be read, even if the step starts to print late. It is the same file
// after the step has ended.
func TestLogShowsWhileRunning(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", "hunter2"} {
		dir, gate := t.TempDir(), t.TempDir()
		b := open(t, Options{LogDir: dir}, nil)
		if secret != "" {
			if err := b.session.Mask().Add(secret); err != nil {
				t.Fatal(err)
			}
		}
		wait := func(name string) string {
			return fmt.Sprintf("while ! [ -e %s/%s ]; do sleep 0.01; done; ", gate, name)
		}
		open := func(name string) {
			if err := os.WriteFile(filepath.Join(gate, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		var r dag.Result
		cmd := b.sh(t, "echo hunter2; sleep 0.3; "+wait("one")+"echo late >&2; "+wait("two")+"echo last")
		wg.Go(func() { r = b.run(t, cmd) })
		first := whenShown(t, dir, "step", 1)[0]
		open("one")
		files := whenShown(t, dir, "step", 2)
		want := map[string]string{"": "hunter2\n", "hunter2": "***\n"}[secret]
		for i, want := range []string{want, "late\n"} {
			if text, err := os.ReadFile(files[i].Path); err != nil || string(text) != want {
				t.Errorf("stream %d: %q, %v", i, text, err)
			}
		}
		open("two")
		wg.Wait()
		if r.Status != dag.Succeeded || r.Stdout.File != first.Path || r.Stderr.File != files[1].Path {
			t.Errorf("%+v; files %q, %q", r, r.Stdout.File, r.Stderr.File)
		}
		if text, _ := os.ReadFile(first.Path); string(text) != want+"last\n" {
			t.Errorf("in the end %q", text)
		}
		b.close(t)
	}
}

// A file that was shown and is empty at the end loses its name.
func TestShownAndEmptied(t *testing.T) {
	dir, seen := t.TempDir(), filepath.Join(t.TempDir(), "seen")
	b := open(t, Options{LogDir: dir}, nil)
	defer b.close(t)
	var wg sync.WaitGroup
	var r dag.Result
	cmd := b.sh(t, "echo x; until [ -e "+seen+" ]; do sleep 0.01; done; for f in "+dir+"/*; do : > $f; done")
	wg.Go(func() { r = b.run(t, cmd) })
	file := whenShown(t, dir, "step", 1)[0]
	if err := os.WriteFile(seen, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if r.Status != dag.Succeeded || r.Stdout != nil {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(file.Path); !os.IsNotExist(err) {
		t.Error("the empty file has its name still:", err)
	}
}
