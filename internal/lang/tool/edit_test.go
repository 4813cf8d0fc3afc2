package tool

import (
	"bytes"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

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
			out, _ := diagnostic.Apply([]byte(startOfText+c.body), edits)
			if !bytes.Contains(out, []byte("{fetch.output}")) {
				t.Errorf("got %s", out)
			}
		}
	}
	if edits := diagnostic.Plain("{fecth}").Rename(1, "fecth", "fetch"); edits != nil {
		t.Errorf("a text made in Go: %v", edits)
	}
}

const startOfText = "name: t\ndescription: d\n"

func textIn(t *testing.T, body string) Text {
	t.Helper()
	def, found := DecodeDocument("t.yaml", []byte(startOfText+body))
	if found.Err() != nil {
		t.Fatal(found)
	}
	return def.Steps[0].Command()
}

// TestSame: places do not matter, values do.
func TestSame(t *testing.T) {
	read := func(s string) *Definition { d, _ := DecodeDocument("t.yaml", []byte(s)); return d }
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
