package dag

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/test/proptest"
)

func TestPath(t *testing.T) {
	for _, c := range []struct {
		path, name, rest, base, tries, keys, holders string
	}{
		{"a", "a", "", "a", "a", "a", ""},
		{"setup/clone", "setup", "clone", "clone", "setup/clone", "setup/clone", "setup"},
		{"setup#2/clone", "setup", "clone", "clone", "setup/clone", "setup/clone", "setup"},
		{"setup#2/in#13/x", "setup", "in#13/x", "x", "setup/in/x", "setup/in/x", "setup setup#2/in"},
		{"test[3]", "test", "", "test[3]", "test[3]", "test", "test"},
		{"test[3]/build", "test", "build", "build", "test[3]/build", "test/build", "test test[3]"},
		{"test[3]#2/build", "test", "build", "build", "test[3]/build", "test/build", "test test[3]"},
		{"test#2[3]", "test", "", "test#2[3]", "test[3]", "test", "test"},
		{"ci/test[linux/amd64]", "ci", "test[linux/amd64]", "test[linux/amd64]", "ci/test[linux/amd64]", "ci/test", "ci ci/test"},
		{"test[x#2]/y", "test", "y", "y", "test[x#2]/y", "test/y", "test test[x#2]"},
		{"test[x#2/y]#3/z", "test", "z", "z", "test[x#2/y]/z", "test/z", "test test[x#2/y]"},
		{"test[]", "test", "", "test[]", "test[]", "test", "test"},
		{"a[0][1]/b", "a", "b", "b", "a[0][1]/b", "a/b", "a a[0] a[0][1]"},
	} {
		id := ID(c.path)
		name, _, rest := id.Split()
		var holders []string
		for _, h := range id.Ancestors() {
			holders = append(holders, string(h))
		}
		got := []string{name, string(rest), string(id.Base()), string(id.WithoutAttempts()), string(id.WithoutKeys()), strings.Join(holders, " ")}
		if diff := cmp.Diff([]string{c.name, c.rest, c.base, c.tries, c.keys, c.holders}, got); diff != "" {
			t.Errorf("%s: Split, Base, WithoutTries, WithoutKeys, Holders (-want +got):\n%s", c.path, diff)
		}
	}
}

// pathPart is a step, or an item of the loop before it, and the try of it that what
// follows is part of.
type pathPart struct {
	text string // a name, or [KEY]
	try  int
}

// TestPathParts: the parts of a path can be read back, whatever the keys contain.
func TestPathParts(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		name, key := rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_.-]*`), rapid.StringMatching(`[^\[\]]*`)
		var parts []pathPart
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			parts = append(parts, pathPart{name.Draw(t, "name"), rapid.IntRange(1, 12).Draw(t, "try")})
			for range max(0, rapid.IntRange(-3, 2).Draw(t, "items")) {
				parts = append(parts, pathPart{"[" + key.Draw(t, "key") + "]", rapid.IntRange(1, 12).Draw(t, "try")})
			}
		}
		checkParts(t, parts)
	})
}

func checkParts(t *rapid.T, parts []pathPart) {
	all := func(pathPart) bool { return true }
	names := func(p pathPart) bool { return p.text[0] != '[' }
	id := written(parts, true, all)
	var holders []ID
	for i := 1; i < len(parts); i++ {
		holders = append(holders, written(parts[:i], true, all))
	}
	first := 1 // of what stands inside the first step and its items
	for first < len(parts) && !names(parts[first]) {
		first++
	}
	last := len(parts) - 1 // where the last step is named
	for !names(parts[last]) {
		last--
	}
	name, _, rest := id.Split()
	for _, c := range []struct {
		what      string
		want, got any
	}{
		{"WithoutTries", written(parts, false, all), id.WithoutAttempts()},
		{"WithoutKeys", written(parts, false, names), id.WithoutKeys()},
		{"Holders", holders, id.Ancestors()},
		{"Split", []ID{ID(parts[0].text), written(parts[first:], true, all)}, []ID{ID(name), rest}},
		{"Base", written(parts[last:], true, all), id.Base()},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Fatalf("%s of %q (-want +got):\n%s", c.what, id, diff)
		}
	}
}

// written makes a path of those parts that keep wants. The last part never says which
// try it is.
func written(parts []pathPart, tries bool, keep func(pathPart) bool) ID {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p pathPart) bool { return !keep(p) })
	var b strings.Builder
	for i, p := range parts {
		if i > 0 && p.text[0] != '[' {
			b.WriteByte('/')
		}
		b.WriteString(p.text)
		if tries && p.try > 1 && i < len(parts)-1 {
			b.WriteString("#" + strconv.Itoa(p.try))
		}
	}
	return ID(b.String())
}

// FuzzPath: any text can be used as a path: no function hangs, rebuild keeps what is
// invalid, and a State finds only what exists.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"", "/", "#", "[", "]", "[]", "a", "a/b", "a#2/b", "a[", "a[]", "a]", "a[b#1/c]#2/d", "a[1][2]", "a#", "a#2", "a//b", "a/[1]", "[1]/a", "a[1]b", "l[0]/x", "l[+0]", "l[00]", "l/x"} {
		f.Add(s)
	}
	g := graphOf(f, []step{{id: "a"}, {id: "l", loop: &loopStep{keys: []string{"", ""}, numbered: true, item: step{inner: []step{{id: "x"}}}, words: [][]string{nil, nil}}}}, Settings{})
	d := newDriver(f, g, 9, func(int) int { return 0 })
	d.run()
	f.Fuzz(func(t *testing.T, text string) {
		id := ID(text)
		id.Split()
		if base := id.Base(); !strings.HasSuffix(text, string(base)) {
			t.Errorf("%q ends in %q", text, base)
		}
		if n := len(id.Ancestors()); n > len(text) {
			t.Errorf("%q is inside %d", text, n)
		}
		for name, shorter := range map[string]func(ID) ID{"WithoutTries": ID.WithoutAttempts, "WithoutKeys": ID.WithoutKeys} {
			once := shorter(id)
			if twice := shorter(once); twice != once || len(once) > len(id) {
				t.Errorf("%s of %q is %q, and of that %q", name, text, once, twice)
			}
		}
		if at := d.state.find(id); at.f != nil && at.f.path(at.i) != id.WithoutAttempts() {
			t.Errorf("%q leads to %s", text, at.f.path(at.i))
		}
	})
}

// TestNames: a path names a step with or without the items around it.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		path, other ID
		want        bool
	}{
		{"test", "test", true},
		{"test", "test[3]", false},
		{"test[3]", "test[3]", true},
		{"test[3]", "test[4]", false},
		{"test[3]", "test", false},
		{"test/build", "test[3]/build", true},
		{"test/build", "test[3]/build[1]", false},
		{"test/build", "test[3]/build/x", false},
		{"test/build/x", "test[a/b]/build[1]/x", true},
		{"test[a/b]/build/x", "test[a/b]/build[1]/x", true},
		{"test[a]/build/x", "test[a/b]/build[1]/x", false},
		{"test/build[1]/x", "test[a/b]/build[1]/x", true},
		{"test/x", "test[3]", false},
		{"test", "other", false},
		{"", "", false},
	} {
		if got := c.path.Names(c.other); got != c.want {
			t.Errorf("%q names %q: %v", c.path, c.other, got)
		}
	}
}
