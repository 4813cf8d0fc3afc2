package tool

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/test/diagnostictest"
)

var update = flag.Bool("update", false, "write golden files")

// TestBadFiles compares the diagnostics of every file in testdata/bad with those that testdata/bad.txt lists.
func TestBadFiles(t *testing.T) {
	diagnostictest.Files(t, "testdata/bad", "*.yaml", 100, *update, decodeBad)
}

// TestBadPages is TestBadFiles for Markdown.
func TestBadPages(t *testing.T) {
	diagnostictest.Files(t, "testdata/badpages", "*.md", 30, *update, decodeBad)
}

// decodeBad returns the diagnostics of a bad file. A tool on a page is named for its file, so all pages have one name.
func decodeBad(file string, src []byte) Diagnostics {
	name := filepath.Base(file)
	if filepath.Ext(name) == ".md" {
		name = "demo.md"
	}
	_, found := Decode(name, src)
	return found
}

// TestPictures draws the diagnostics of the bad files that have a picture beside them: together they show each form
// of a line, a caret and a note.
func TestPictures(t *testing.T) {
	pictures, err := filepath.Glob("testdata/bad*/*.golden")
	if err != nil || len(pictures) < 8 {
		t.Fatalf("found %d pictures: %v", len(pictures), err)
	}
	for _, golden := range pictures {
		file := strings.TrimSuffix(golden, ".golden") + ".yaml"
		if filepath.Base(filepath.Dir(golden)) == "badpages" {
			file = strings.TrimSuffix(golden, ".golden") + ".md"
		}
		src := readFile(t, file)
		var picture bytes.Buffer
		Render(&picture, decodeBad(file, src), func(string) []byte { return src }, Style{})
		if *update {
			writeFile(t, golden, picture.Bytes())
		}
		if diff := cmp.Diff(string(readFile(t, golden)), picture.String()); diff != "" {
			t.Errorf("%s changed (-want +got):\n%s", golden, diff)
		}
	}
}

func writeFile(t testing.TB, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDiagnosticsAsError(t *testing.T) {
	warning := Diagnostic{Code: "w", Severity: Warning, Pos: Pos{File: "f.yaml", Line: 2, Col: 1}, Message: "second"}
	wrong := Diagnostic{Code: "e", Severity: Error, Pos: Pos{File: "f.yaml", Line: 1, Col: 3}, Message: "first", Hint: "fix it"}
	if err := (Diagnostics{warning}).Err(); err != nil {
		t.Errorf("warnings are an error: %v", err)
	}
	all := Diagnostics{warning, wrong, warning}.Sorted()
	want := "f.yaml:1:3: error[e]: first; fix it\nf.yaml:2:1: warning[w]: second"
	if err := all.Err(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestCapKeepsErrors: a file of warnings does not hide the error at its end.
func TestCapKeepsErrors(t *testing.T) {
	var all Diagnostics
	for i := range 3 * MaxDiagnostics {
		all = append(all, Diagnostic{Code: "w", Severity: Warning, Pos: Pos{File: "f", Line: i + 1, Col: 1}})
	}
	all = append(all, Diagnostic{Code: "e", Severity: Error, Pos: Pos{File: "f", Line: 1000, Col: 1}}).Sorted()
	if len(all) != MaxDiagnostics || all.Err() == nil || all[len(all)-1].Code != "e" {
		t.Errorf("%d diagnostics, error: %v", len(all), all.Err())
	}
}

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
