package diagnostic

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMarshalDocument(t *testing.T) {
	doc, err := Diagnostics{{Code: "unknown-key", Severity: Error, Pos: Pos{File: "a.yaml", Line: 3, Col: 5}, Path: "tags", Message: "m"}}.MarshalDocument()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema":"flowrun/diagnostics.v1","diagnostics":[{"code":"unknown-key","severity":"error","file":"a.yaml","line":3,"col":5,"length":1,"path":"tags","message":"m","hint":""}]}`
	if string(doc) != want {
		t.Errorf("got %s", doc)
	}
	empty, _ := Diagnostics(nil).MarshalDocument()
	if !json.Valid(empty) || !bytes.Contains(empty, []byte(`"diagnostics":[]`)) {
		t.Errorf("without diagnostics: %s", empty)
	}
}

func TestRenderColor(t *testing.T) {
	var b bytes.Buffer
	Render(&b, Diagnostics{{Code: "c", Severity: Error, Pos: Pos{File: "f", Line: 1, Col: 1}, Message: "m\x1b[2J"}}, nil, Style{Color: true})
	if got := b.String(); !strings.HasPrefix(got, "\x1b[1;31merror[c]\x1b[0m") || strings.Contains(got, "\x1b[2J") {
		t.Errorf("got %q", got)
	}
}

// TestRenderLongLine: a line of a megabyte is cut around the caret.
func TestRenderLongLine(t *testing.T) {
	src := []byte(strings.Repeat("x", 1<<20) + "HERE" + strings.Repeat("y", 1<<20))
	var b bytes.Buffer
	Render(&b, Diagnostics{{Code: "c", Severity: Error, Pos: Pos{File: "f", Line: 1, Col: 1<<20 + 1}, Len: 4, Message: "m"}}, func(string) []byte { return src }, Style{})
	lines := strings.Split(b.String(), "\n")
	at, caret := strings.Index(lines[3], "HERE"), strings.Index(lines[4], "^^^^")
	if b.Len() > 1000 || at < 0 || len([]rune(lines[3][:at])) != len([]rune(lines[4][:caret])) {
		t.Errorf("got:\n%s", b.String())
	}
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

// TestRenderSnippet draws the line with a caret, in terminal cells, and the other places.
func TestRenderSnippet(t *testing.T) {
	file := []byte("name: t\n\tf: 漢字 x\u202e\n")
	d := Diagnostics{{Code: "c", Severity: Warning, Pos: Pos{File: "f.yaml", Line: 2, Col: 5}, Len: 2, Message: "wrong", Hint: "write\nit better",
		Related: []Place{{Pos: Pos{File: "f.yaml", Line: 1, Col: 1}, Len: 4, Message: "first here"}}}}
	var b bytes.Buffer
	Render(&b, d, func(string) []byte { return file }, Style{})
	want := `warning[c]: wrong
  ┌─ f.yaml:2:5
  │
1 │ name: t
2 │     f: 漢字 x\u{202e}
  │        ^^^^
  ├─ f.yaml:1:1: first here
  │
1 │ name: t
  │ ----
  = help: write
          it better
  = docs: flowrun explain c
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPrintable escapes what could control a terminal.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain é": "plain é", "a\nb\tc": `a\nb\tc`, "\x1b[2J": `\x1b[2J`, "\u202e": `\u{202e}`, "\xff": "�", strings.Repeat("é", 61): strings.Repeat("é", 60) + "…",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestProblem holds which bytes cannot be the text of a definition.
func TestProblem(t *testing.T) {
	for text, want := range map[string]string{
		"a: é\r\n\u0085\t": "", "\xff\xfea\x00": "1:1 not-utf-8", "a\x00": "1:1 not-utf-8", "ab\x00": "1:3 control-character", "a\nb\xffc": "2:2 not-utf-8",
		"a\x1b": "1:2 control-character", "\ufeffa\ufeff": "1:2 control-character", strings.Repeat("x", MaxFileSize+1): "1:1 file-too-large",
	} {
		got := ""
		if d, bad := NewSource("f", []byte(text)).Problem(); bad {
			got = LineCol(d.Pos) + " " + d.Code
		}
		if got != want {
			t.Errorf("%.20q: %s, want %s", text, got, want)
		}
	}
}
