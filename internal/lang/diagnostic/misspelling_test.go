package diagnostic_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

func TestMisspelt(t *testing.T) {
	for _, c := range []struct{ word, names, want string }{
		{"TARGT", "TARGET", "TARGET"},
		{"TRAGET", "TARGET", "TARGET"},
		{"NAEM", "NAME OTHER", "NAME"},
		{"TARRGTE", "TARGET", "TARGET"},         // distance 2
		{"NEMA", "NAME", ""},                    // distance 2 in a short word
		{"TARRGGTE", "TARGET", ""},              // distance 3
		{"TARGET_FOLDRES", "TARGET_FILES", ""},  // another name
		{"FILEX", "FILE_X FILE", "FILE FILE_X"}, // both are as near
		{"FILES", "FILE FOLES FILET", "FILE FILET FOLES"},
		{"FILESX", "FILES FILE", "FILES"}, // one is nearer
		{"targt", "TARGET", ""},           // written differently
		{"targt", "target", "target"},
		{"userNam", "userName", "userName"},
		{"userNam", "username USERNAME", ""},
		{"OK", "OS", ""},           // too short
		{"NAME", "NAME NAMES", ""}, // not misspelled
		{"STEP2", "STEP1 STEP3", "STEP1 STEP3"},
		{"", "A", ""},
	} {
		got := diagnostic.Misspelt(c.word, diagnostic.NewWords(strings.FieldsSeq(c.names)))
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q among %q: %q, want %q", c.word, c.names, got, c.want)
		}
	}
}

// TestMisspeltEveryName compares Misspelt with the distances to all names.
func TestMisspeltEveryName(t *testing.T) {
	r := rand.New(rand.NewPCG(sizetest.Seed(t), 0))
	word := func() string {
		b := make([]byte, 1+r.IntN(9))
		for i := range b {
			b[i] = "aabbcX"[r.IntN(6)]
		}
		return string(b)
	}
	for range sizetest.Of(2000, 20_000, 200_000) {
		var all, half []string
		for range r.IntN(40) {
			all = append(all, word())
		}
		half = all[:r.IntN(len(all)+1)]
		w := word()
		got := diagnostic.Misspelt(w, diagnostic.NewWords(slices.Values(half)), diagnostic.NewWords(slices.Values(all[len(half):])))
		if want := nearest(w, all); !slices.Equal(got, want) {
			t.Fatalf("%q among %q: %q, want %q", w, all, got, want)
		}
	}
}

// nearest is Misspelt in its simplest form.
func nearest(word string, names []string) (found []string) {
	if len(word) < 3 || slices.Contains(names, word) {
		return nil
	}
	shape := func(s string) [2]bool { return [2]bool{s == strings.ToUpper(s), s == strings.ToLower(s)} }
	for limit := 1; limit <= min(len(word)/3, 2) && found == nil; limit++ {
		for _, name := range names {
			if diagnostic.Distance(word, name) == limit && shape(name) == shape(word) {
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
