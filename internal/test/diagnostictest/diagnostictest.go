// Package diagnostictest compares the diagnostics of bad files with a list of them.
package diagnostictest

import (
	"bytes"
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

// Files compares the diagnostics of the files in a folder with those that FOLDER.txt lists, or writes the list. There are at
// least so many files.
func Files(t *testing.T, folder, pattern string, least int, update bool, decode func(file string, src []byte) diagnostic.Diagnostics) {
	files, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(files) < least {
		t.Fatalf("found %d bad files: %v", len(files), err)
	}
	want := map[string]string{}
	for section := range strings.SplitSeq(strings.TrimSuffix(string(read(t, folder+".txt")), "\n"), "\n\n") {
		file, _, _ := strings.Cut(section, "\n")
		want[file] = section
	}
	var sections []string
	for _, file := range files {
		src := read(t, file)
		found := decode(file, src)
		if len(found) == 0 {
			t.Errorf("%s has no diagnostics", file)
		}
		Check(t, src, found)
		name := filepath.Base(file)
		got := name + listed(found)
		sections = append(sections, got)
		if diff := cmp.Diff(want[name], got); diff != "" && !update {
			t.Errorf("the diagnostics of %s changed (-want +got):\n%s", name, diff)
		}
		delete(want, name)
	}
	if update {
		if err := os.WriteFile(folder+".txt", []byte(strings.Join(sections, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if len(want) > 0 {
		t.Errorf("the list has files that do not exist: %v", slices.Sorted(maps.Keys(want)))
	}
}

// Pictures draws the diagnostics of the files in a folder that have a picture beside them, NAME.golden: together they show
// each form of a line, a caret and a note. There are at least so many.
func Pictures(t *testing.T, folder, extension string, least int, update bool, decode func(file string, src []byte) diagnostic.Diagnostics) {
	pictures, err := filepath.Glob(filepath.Join(folder, "*.golden"))
	if err != nil || len(pictures) < least {
		t.Fatalf("found %d pictures: %v", len(pictures), err)
	}
	for _, golden := range pictures {
		file := strings.TrimSuffix(golden, ".golden") + extension
		src := read(t, file)
		var picture bytes.Buffer
		diagnostic.Render(&picture, decode(file, src), func(string) []byte { return src }, diagnostic.Style{})
		if update {
			if err := os.WriteFile(golden, picture.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(read(t, golden)), picture.String()); diff != "" {
			t.Errorf("%s changed (-want +got):\n%s", golden, diff)
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// listed is what diagnostics say: a line with position, length, severity, code, key path and message, and below it
// the help, further positions and the edits of the fix.
func listed(found diagnostic.Diagnostics) string {
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

// Check demands what holds of every diagnostic: a place inside the file,
// a message, a code, and for errors a way out.
func Check(t testing.TB, src []byte, found diagnostic.Diagnostics) {
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
}
