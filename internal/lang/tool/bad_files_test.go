package tool

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

var update = flag.Bool("update", false, "write golden files")

// TestBadFiles compares the diagnostics of every file in testdata/bad with those that testdata/bad.txt lists.
func TestBadFiles(t *testing.T) { testBad(t, "testdata/bad", "*.yaml", 140) }

// TestBadPages is TestBadFiles for Markdown.
func TestBadPages(t *testing.T) { testBad(t, "testdata/badpages", "*.md", 30) }

func testBad(t *testing.T, folder, pattern string, least int) {
	files, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(files) < least {
		t.Fatalf("found %d bad files: %v", len(files), err)
	}
	want := map[string]string{}
	for section := range strings.SplitSeq(strings.TrimSuffix(string(readFile(t, folder+".txt")), "\n"), "\n\n") {
		file, _, _ := strings.Cut(section, "\n")
		want[file] = section
	}
	var sections []string
	for _, file := range files {
		src := readFile(t, file)
		found := decodeBad(file, src)
		if len(found) == 0 {
			t.Errorf("%s has no diagnostics", file)
		}
		checkPlaces(t, src, found)
		name := filepath.Base(file)
		got := name + listed(found)
		sections = append(sections, got)
		if diff := cmp.Diff(want[name], got); diff != "" && !*update {
			t.Errorf("the diagnostics of %s changed (-want +got):\n%s", name, diff)
		}
		delete(want, name)
	}
	if *update {
		writeFile(t, folder+".txt", []byte(strings.Join(sections, "\n\n")+"\n"))
	} else if len(want) > 0 {
		t.Errorf("the list has files that do not exist: %v", slices.Sorted(maps.Keys(want)))
	}
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

// listed is what diagnostics say: a line with position, length, severity, code, key path and message, and below it
// the help, further positions and the edits of the fix.
func listed(found Diagnostics) string {
	var b strings.Builder
	for _, d := range found {
		path := ""
		if d.Path != "" {
			path = " at " + d.Path
		}
		fmt.Fprintf(&b, "\n%d:%d+%d %s[%s]%s: %s", d.Pos.Line, d.Pos.Col, d.Len, d.Severity, d.Code, path, d.Message)
		if d.Hint != "" {
			fmt.Fprintf(&b, "\n\thelp: %s", strings.ReplaceAll(d.Hint, "\n", "\n\t      "))
		}
		for _, p := range d.Related {
			fmt.Fprintf(&b, "\n\talso %d:%d+%d: %s", p.Pos.Line, p.Pos.Col, p.Len, p.Message)
		}
		for _, e := range d.Fix {
			fmt.Fprintf(&b, "\n\tfix: %d-%d %q", e.From, e.To, e.Text)
		}
	}
	return b.String()
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

// checkPlaces demands what holds of every diagnostic: a place inside the file,
// a message, a code, and for errors a way out.
func checkPlaces(t testing.TB, src []byte, found Diagnostics) {
	t.Helper()
	lines := len(diagnostic.NewSource("", src).Lines)
	for _, d := range found {
		if d.Pos.Line < 1 || d.Pos.Line > lines || d.Pos.Col < 1 {
			t.Errorf("place outside the file of %d lines: %v", lines, d)
		}
		if d.Code == "" || d.Message == "" || strings.ContainsAny(d.Message, "\n\x1b") {
			t.Errorf("not a message: %#v", d)
		}
	}
	if len(found) > 2*MaxDiagnostics {
		t.Errorf("%d diagnostics", len(found))
	}
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
