package console

import (
	"bytes"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
)

func boxes() []Box {
	return []Box{
		{ID: "fetch", Name: "fetch", Kind: "bash"},
		{ID: "setup", Name: "setup", Kind: "clone", After: []string{"fetch"}, Inside: []Box{
			{ID: "setup/try", Name: "try", Kind: "bash"},
			{ID: "setup/again", Name: "again", Kind: "bash", Condition: `{try.exit-code} != "0"`, After: []string{"setup/try"}},
		}},
		{ID: "test", Name: "test", Kind: "bash", After: []string{"fetch", "setup"}},
		{ID: "ship", Name: "ship", Kind: "run", Condition: "success()", After: []string{"test", "setup"}},
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
		for _, form := range []string{"text", "dot", "mermaid"} {
			t.Run(name+"-"+form, func(t *testing.T) {
				var b bytes.Buffer
				if err := Draw(&b, boxes, form); err != nil {
					t.Fatal(err)
				}
				golden(t, name+"-"+form, b.String())
			})
		}
	}
}

// TestLooks checks that every state has a word and a glyph.
func TestLooks(t *testing.T) {
	for s := dag.Pending; s <= dag.Interrupted; s++ {
		l := statusStyles[s]
		if columns(l.glyph) != 1 || len(l.ascii) != 1 || l.color == "" || l.fill == "" || l.line == "" {
			t.Errorf("%s: %+v", s, l)
		}
	}
}
