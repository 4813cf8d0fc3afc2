package sharedfiles

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/cache"
)

// TestOwner checks whose the file out/a is, which was written while step "one" worked and the other step, too.
func TestOwner(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		mine, theirs []string
		folder       string // of the other step
		want         string
	}{
		{[]string{"out/"}, []string{"lib/"}, ".", "own"},
		{[]string{"out/"}, []string{"out/"}, ".", "contested"},
		{[]string{"out/"}, []string{"out/**"}, ".", "contested"},
		{[]string{"out/*"}, []string{"out/b"}, ".", "own"},
		{[]string{"out/"}, []string{"out/a"}, ".", "other"},
		{[]string{"out/"}, []string{"out/*", "out/a"}, ".", "other"},
		{[]string{"out/a"}, []string{"out/"}, ".", "own"},
		{[]string{"out/a"}, []string{"out/a"}, ".", "contested"},
		{[]string{"out/a"}, []string{"./out//a"}, ".", "contested"},
		{[]string{"out/"}, []string{"a"}, "out", "other"},
		{[]string{"out/"}, []string{"*"}, "out", "contested"},
		{[]string{"out/"}, []string{"a"}, "elsewhere", "own"},
		{[]string{"out/"}, nil, ".", "own"},
		{[]string{"out/"}, nil, "", "doubtful"},
		{[]string{"out/a"}, nil, "", "own"},
	} {
		for _, first := range []bool{true, false} {
			var r Run
			end := r.EndSilent
			begin := func() {
				if c.folder == "" {
					r.BeginSilent()
				} else {
					end = r.Begin("two", filepath.Join(dir, c.folder), c.theirs).End
				}
			}
			r.BeginSilent() // one that has ended counts no longer
			r.EndSilent()
			if first {
				begin()
			}
			w := r.Begin("one", dir, c.mine)
			again := r.Begin("one", dir, c.mine) // another view of the same step
			if !first {
				begin()
			}
			end()
			again.End()
			owner, err := w.Owner("out/a")
			got := map[cache.Owner]string{cache.OwnFile: "own", cache.DoubtfulFile: "doubtful", cache.OtherFile: "other"}[owner]
			if bad := new(ContestedError); errors.As(err, &bad) {
				if got = "contested"; bad.Step != "two" || bad.Path != "out/a" {
					t.Error(bad)
				}
			}
			if got != c.want {
				t.Errorf("%q and %q in %q, first %v: %s, want %s", c.mine, c.theirs, c.folder, first, got, c.want)
			}
			w.End()
			if later := r.Begin("three", dir, c.mine); len(r.working) != 1 || len(later.others) > 0 {
				t.Errorf("%d work, and there were %d others", len(r.working), len(later.others))
			}
		}
	}
}

// TestNarrow checks that a step which knows its files claims no others.
func TestNarrow(t *testing.T) {
	var r Run
	one, two := r.Begin("one", ".", []string{"out/"}), r.Begin("two", ".", []string{"out/"})
	said := func() string {
		owner, err := two.Owner("out/a")
		return fmt.Sprint(owner, err != nil)
	}
	if got := said(); got != "0 true" {
		t.Error(got)
	}
	one.Writes(map[string]bool{"out/b": true})
	if got := said(); got != "0 false" {
		t.Error(got)
	}
	one.Writes(map[string]bool{"out/a": true})
	if got := said(); got != fmt.Sprint(cache.OtherFile, false) {
		t.Error(got)
	}
	one.Writes(nil)
	if got := said(); got != "0 true" {
		t.Error(got)
	}
	if owner, err := (*Run)(nil).Begin("alone", ".", nil).Owner("x"); owner != cache.OwnFile || err != nil {
		t.Error(owner, err)
	}
}
