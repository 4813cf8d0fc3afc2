// Package importtest tests the readers of internal/importer: each calls these functions with its own tables.
package importtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/library"
)

// The statuses, in short for tables.
const (
	Exact   = importer.Exact
	Changed = importer.Changed
	Left    = importer.LeftOut
)

// Reader reads a file of one format.
type Reader func(src string) (*importer.Result, error)

// Definitions renders all tools and compiles them.
func Definitions(t testing.TB, r *importer.Result) string {
	t.Helper()
	var all []string
	for _, one := range r.Tools {
		text, err := importer.Render(one)
		if err != nil {
			t.Fatal(err)
		}
		def, found := decode.File(one.Name+".yaml", text)
		if err := found.Err(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if _, err := compile.Definition(&library.Library{}, "", def); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		all = append(all, string(text))
	}
	for _, row := range r.Rows {
		name, path, _ := strings.Cut(row.To, "/")
		i := slices.IndexFunc(r.Tools, func(t *importer.Tool) bool { return t.Name == name })
		if row.To != "" && (i < 0 || path != "" && !hasStep(r.Tools[i], path)) {
			t.Errorf("a row names %s, which is not written: %+v", row.To, row)
		}
	}
	return strings.Join(all, "---\n")
}

// hasStep reports whether a tool has a step at a path such as group/step.
func hasStep(t *importer.Tool, path string) bool {
	list := slices.Concat(t.Steps, t.OnSuccess, t.OnFailure, t.Finally)
	for name := range strings.SplitSeq(path, "/") {
		i := slices.IndexFunc(list, func(s *importer.Step) bool { return s.Name == name })
		if i < 0 {
			return false
		}
		list = list[i].Steps
	}
	return true
}

// Worst is the status of the row that differs most from exact.
func Worst(rows []importer.Row) importer.Status {
	order := []importer.Status{Exact, Changed, Left}
	at := 0
	for _, r := range rows {
		at = max(at, slices.Index(order, r.Status))
	}
	return order[at]
}

// Feature is a row of a table in docs/reference/importing.md, and a file with that feature.
type Feature = struct {
	Name, Src string
	Status    importer.Status
	Has       string // in the definition
}

// sections are the parts of docs/reference/importing.md that have a table of features.
var sections = []string{"Crontabs", "Makefiles", "Taskfiles (go-task)", "Dagu", "GitHub Actions", "justfiles"}

// Features compares each row of one section of docs/reference/importing.md with a file that has the feature, and the
// section with the table.
func Features(t *testing.T, section string, read Reader, list []Feature) {
	page, err := os.ReadFile("../../../docs/reference/importing.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, f := range list {
		t.Run(f.Name, func(t *testing.T) {
			r, err := read(f.Src)
			if err != nil {
				t.Fatal(err)
			}
			text := Definitions(t, r)
			if got := Worst(r.Rows); len(r.Rows) == 0 || got != f.Status {
				t.Errorf("got %s, want %s: %+v", got, f.Status, r.Rows)
			}
			if !strings.Contains(text, f.Has) {
				t.Errorf("the definition does not contain %q:\n%s", f.Has, text)
			}
		})
		want = append(want, "| "+f.Name+" | "+string(f.Status)+" |")
	}
	at := ""
	for _, line := range strings.Split(string(page), "\n") {
		line = strings.ReplaceAll(line, `\|`, "|")
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			at = heading
		}
		if !strings.HasSuffix(line, " | left out |") && !strings.HasSuffix(line, " | exact |") && !strings.HasSuffix(line, " | changed |") {
			continue
		}
		if !slices.Contains(sections, at) {
			t.Errorf("%s: no reader has this section: %s", at, line)
		}
		if at == section {
			got = append(got, line)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s in docs/reference/importing.md (-want +got):\n%s", section, diff)
	}
}

// Case is a file, a row that reading it gives, and a part of the definitions.
type Case = struct {
	Src, What string
	Status    importer.Status
	Reason    string
	Has       string
}

// Rows checks the row and the definitions of each case: what flowrun does not do the same is not exact.
func Rows(t *testing.T, read Reader, cases []Case) {
	for _, c := range cases {
		t.Run(c.What+" "+c.Reason, func(t *testing.T) {
			r, err := read(c.Src)
			if err != nil {
				t.Fatal(err)
			}
			if text := Definitions(t, r); !strings.Contains(text, c.Has) {
				t.Errorf("the definitions do not contain %q:\n%s", c.Has, text)
			}
			if !slices.ContainsFunc(r.Rows, func(row importer.Row) bool {
				return row.What == c.What && row.Status == c.Status && strings.Contains(row.Reason, c.Reason)
			}) {
				t.Errorf("%s: got %+v, want %s %s: %s", c.Src, r.Rows, c.What, c.Status, c.Reason)
			}
		})
	}
}

// Guarded is a file with the command echo GUARDED. Has is empty if the command is left out with what guards it.
type Guarded = struct{ Src, Reason, Has string }

// LeftOut checks that the command echo GUARDED is left out with what guards it, or with a variable that it reads, and that
// it is written if Has is not empty.
func LeftOut(t *testing.T, read Reader, cases []Guarded) {
	for _, c := range cases {
		r, err := read(c.Src)
		if err != nil {
			t.Errorf("%s: %v", c.Src, err)
			continue
		}
		text, reasons := Definitions(t, r), ""
		for _, row := range r.Rows {
			reasons += row.Reason + "\n"
		}
		if strings.Contains(text, "GUARDED") != (c.Has != "") || !strings.Contains(text, c.Has) || !strings.Contains(reasons, c.Reason) {
			t.Errorf("%s: want %q and %q:\n%s%+v", c.Src, c.Has, c.Reason, text, r.Rows)
		}
	}
}

var update = flag.Bool("update", false, "rewrite the golden files")

// BadInputs compares what is reported for files that have mistakes, or that ask for what flowrun does not do, with
// testdata/bad.txt.
func BadInputs(t *testing.T, read Reader, list []string) {
	var b strings.Builder
	for _, src := range list {
		shown := src
		if len(src) > 200 {
			shown = src[:60] + "...\n"
		}
		fmt.Fprintf(&b, "===\n%s\n---\n", strings.TrimRight(shown, "\n"))
		r, err := read(src)
		if err != nil {
			fmt.Fprintf(&b, "%v\n", err)
			continue
		}
		Definitions(t, r)
		for _, row := range r.Rows {
			fmt.Fprintf(&b, "line %d: %s: %s: %s\n", row.Line, row.What, row.Status, row.Reason)
		}
	}
	const golden = "testdata/bad.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("run with -update if this is right:\n%s", diff)
	}
}

// Fuzz reads any text: it must not panic, take long or make a definition that cannot be written.
func Fuzz(f *testing.F, read Reader, features []Feature, bad []string) {
	for _, one := range features {
		f.Add(one.Src)
	}
	for _, src := range bad {
		f.Add(src)
	}
	others, _ := filepath.Glob("../*/testdata/bad.txt")
	for _, name := range others { // files of other formats
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "===\n") {
			src, _, _ := strings.Cut(part, "\n---\n")
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src string) {
		start := time.Now()
		r, err := read(src)
		if err != nil {
			return
		}
		for _, one := range r.Tools {
			if _, err := importer.Render(one); err != nil {
				t.Error(err)
			}
		}
		if d := time.Since(start); d > 20*time.Second { // a loop without end, not a slow machine
			t.Errorf("it took %s", d)
		}
	})
}
