package drawing

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
)

var update = flag.Bool("update", false, "write the golden files")

func boxes() []Box {
	return []Box{
		{ID: "fetch", Name: "fetch", Kind: "bash"},
		{ID: "setup", Name: "setup", Kind: "clone", After: []string{"fetch"}, Inside: []Box{
			{ID: "setup/try", Name: "try", Kind: "bash"},
			{ID: "setup/again", Name: "again", Kind: "bash", Condition: `{try.exit-code} != "0"`, After: []string{"setup/try"}},
		}},
		{ID: "test", Name: "test", Kind: "bash", After: []string{"setup"}},
		{ID: "ship", Name: "ship", Kind: "run", Condition: "success()", After: []string{"test"}},
	}
}

// TestDraw draws a graph without a run and with one.
func TestDraw(t *testing.T) {
	ran := boxes()
	ran[0].Status, ran[0].Duration = dag.Succeeded, 600*time.Millisecond
	ran[1].Status, ran[1].Duration = dag.TimedOut, 65*time.Second
	ran[1].Inside[0].Status, ran[1].Inside[0].Duration = dag.TimedOut, 65*time.Second
	ran[1].Inside[1].Status = dag.Skipped
	ran[2].Status = dag.Running
	for name, boxes := range map[string][]Box{"graph": boxes(), "graph-run": ran} {
		for _, form := range []string{"text", "dot", "mermaid", "svg"} {
			t.Run(name+"-"+form, func(t *testing.T) { golden(t, name+"-"+form, drawn(t, boxes, form)) })
		}
	}
}

func drawn(t *testing.T, boxes []Box, form string) string {
	t.Helper()
	var b bytes.Buffer
	if err := Draw(&b, boxes, form); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the drawing changed; look at it and run go test -update (-want +got):\n%s", diff)
	}
}

// TestJoins: a join is drawn where several steps wait for the same steps, and nowhere else. In text
// the steps themselves are named.
func TestJoins(t *testing.T) {
	both := []string{"a", "b"}
	list := []Box{{ID: "a"}, {ID: "b"}, {ID: "c", After: both}, {ID: "d", After: both}, {ID: "e", After: []string{"c", "d"}}}
	for i := range list {
		list[i].Name = list[i].ID
	}
	placed, g := Place(list)
	ids := ""
	for _, b := range placed {
		ids += b.ID + " "
	}
	if want := "a b @c c d e "; ids != want {
		t.Errorf("%s is drawn, want %s", ids, want)
	}
	if len(g.Edges) != 6 {
		t.Errorf("%d edges: %v, want 6", len(g.Edges), g.Edges)
	}
	shared := []string{"a", "b", "c"}
	if _, g := Place([]Box{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d", After: shared}, {ID: "e", After: shared}}); len(g.Edges) != 5 {
		t.Errorf("%d edges: %v, want 5", len(g.Edges), g.Edges)
	}
	if got, want := drawn(t, list, "text"), "  1  a\n  1  b\n  2  c  <- a, b\n  2  d  <- a, b\n  3  e  <- c, d\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestHostileSVG: text of a definition stays text in the image, whatever it contains.
func TestHostileSVG(t *testing.T) {
	const evil = "</text><script>alert(1)</script>\x00\x1b[2J\u202e&\"' ]]>"
	svg := drawn(t, []Box{{ID: evil, Name: evil, Kind: evil, Note: evil, Condition: evil, Status: dag.Failed, Inside: []Box{{ID: evil, Name: evil, Kind: evil}}}}, "svg")
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		switch tok, err := d.Token(); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			t.Fatalf("%v\n%s", err, svg)
		default:
			if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "script" {
				t.Fatal(svg)
			}
		}
	}
}
