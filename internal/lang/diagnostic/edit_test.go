package diagnostic

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestApply(t *testing.T) {
	for _, c := range []struct {
		edits []Edit
		want  string // "" for edits that cannot be made
	}{
		{nil, "abcdef"},
		{[]Edit{{From: 3, To: 4, Text: "X"}, {From: 0, To: 0, Text: "<"}}, "<abcXef"},
		{[]Edit{{From: 6, To: 6, Text: ">"}, {From: 1, To: 3, Text: ""}}, "adef>"},
		{[]Edit{{From: 2, To: 2, Text: "1"}, {From: 2, To: 2, Text: "2"}}, "ab12cdef"},
		{[]Edit{{From: 0, To: 2, Text: "x"}, {From: 1, To: 3, Text: "y"}}, ""},
		{[]Edit{{From: 5, To: 7, Text: "x"}}, ""},
		{[]Edit{{From: 3, To: 2, Text: "x"}}, ""},
		{[]Edit{{From: -1, To: 0, Text: "x"}}, ""},
	} {
		got, ok := Apply([]byte("abcdef"), c.edits)
		if string(got) != c.want || ok != (c.want != "") {
			t.Errorf("%v: got %q %v, want %q", c.edits, got, ok, c.want)
		}
	}
}

// TestEdits: a set takes exactly the edits that Apply can apply with those before them.
func TestEdits(t *testing.T) {
	text := []byte("abcdef")
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		var set Edits
		var all []Edit
		for range 4 {
			from := random.IntN(len(text) + 1)
			e := Edit{From: from, To: from + random.IntN(min(3, len(text)+1-from)), Text: "x"}
			_, can := Apply(text, append(slices.Clone(all), e))
			if set.Add([]Edit{e}) != can {
				t.Fatalf("%v after %v: Apply can apply them: %t", e, all, can)
			}
			if can {
				all = append(all, e)
			}
		}
	}
}

// TestUnits: é is one UTF-16 code unit, 𝒳 two; behind the end of a line columns go on.
func TestUnits(t *testing.T) {
	file := []byte("\ufeffa\né𝒳b\n")
	for col, want := range map[int]int{1: 1, 2: 2, 3: 4, 4: 5, 6: 7} {
		if got := (Pos{File: "f", Line: 2, Col: col}).Units(file); got != want {
			t.Errorf("column %d: got %d, want %d", col, got, want)
		}
	}
	if got := (Pos{File: "f", Line: 2, Col: 4}).Units(nil); got != 4 {
		t.Errorf("without the file: %d", got)
	}
	if got := PosAt("f", file, len("\ufeffa\né")); got != (Pos{File: "f", Line: 2, Col: 2}) {
		t.Errorf("at the second character: %v", got)
	}
}

func TestPlainTextAt(t *testing.T) {
	text := Plain("one\ntwo ü x")
	text.Pos = Pos{File: "f", Line: 3, Col: 5}
	for off, want := range map[int]Pos{-1: {File: "f", Line: 3, Col: 5}, 2: {File: "f", Line: 3, Col: 7}, 4: {File: "f", Line: 4, Col: 1}, 11: {File: "f", Line: 4, Col: 7}, 99: {File: "f", Line: 4, Col: 8}} {
		if got := text.At(off); got != want {
			t.Errorf("At(%d) = %v, want %v", off, got, want)
		}
	}
}
