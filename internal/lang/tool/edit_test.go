package tool

import (
	"bytes"
	"strings"
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

// TestRename: the word must be in the file as it is said.
func TestRename(t *testing.T) {
	for _, c := range []struct {
		body string
		off  int
		want bool
	}{
		{"bash: |\n  echo\n  {fecth.output}\n", 6, true},
		{"bash: |\n  echo\n  {fecth.output}\n", 5, false},
		{"bash: \"{\\x66ecth}\"\n", 1, false},
	} {
		text := textIn(t, c.body)
		edits := text.Rename(c.off, "fecth", "fetch")
		if (len(edits) == 1) != c.want {
			t.Errorf("%q at %d: %v", text.S, c.off, edits)
		}
		if c.want {
			out, _ := Apply([]byte(startOfText+c.body), edits)
			if !bytes.Contains(out, []byte("{fetch.output}")) {
				t.Errorf("got %s", out)
			}
		}
	}
	if edits := Plain("{fecth}").Rename(1, "fecth", "fetch"); edits != nil {
		t.Errorf("a text made in Go: %v", edits)
	}
}

const startOfText = "name: t\ndescription: d\n"

func textIn(t *testing.T, body string) Text {
	t.Helper()
	def, found := Decode("t.yaml", []byte(startOfText+body))
	if found.Err() != nil {
		t.Fatal(found)
	}
	return def.Steps[0].Command()
}

// TestRenderLinks: places are links where the terminal has links, and only there.
func TestRenderLinks(t *testing.T) {
	d := Diagnostics{{Code: "c", Severity: Error, Pos: Pos{File: "a b.yaml", Line: 1, Col: 1}, Message: "m", Related: []Place{{Pos: Pos{File: "other.yaml", Line: 2, Col: 3}, Message: "there"}}}}
	for _, links := range []bool{false, true} {
		var b bytes.Buffer
		Render(&b, d, nil, Style{Links: links})
		if got := strings.Contains(b.String(), "\x1b]8;;file:///"); got != links {
			t.Errorf("links %v: %q", links, b.String())
		}
		if links && !strings.Contains(b.String(), "/a%20b.yaml\x1b\\a b.yaml:1:1\x1b]8;;\x1b\\") {
			t.Errorf("got %q", b.String())
		}
		if !strings.Contains(b.String(), "other.yaml:2:3") || !strings.Contains(b.String(), ": there") {
			t.Errorf("the second place is missing: %q", b.String())
		}
	}
}

// TestSame: places do not matter, values do.
func TestSame(t *testing.T) {
	read := func(s string) *Definition { d, _ := Decode("t.yaml", []byte(s)); return d }
	const text = "name: t\ndescription: d\nbash: echo {A}\nparameters: {A: {description: a, default: 5, type: number}}\n"
	a := read(text)
	if !a.Same(read("# above\n\n" + strings.ReplaceAll(text, "bash: echo {A}", "bash: \"echo {A}\" # x"))) {
		t.Error("the same, written otherwise, is another")
	}
	for _, other := range []string{strings.Replace(text, "echo", "ehco", 1), strings.Replace(text, "5", "6", 1), text + "timeout: 5s\n", strings.Replace(text, "bash", "sh", 1)} {
		if a.Same(read(other)) {
			t.Errorf("%s is the same", other)
		}
	}
}
