package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service/mcp"
)

// TestResources checks that clients can read runs, and only those of the tools that they see.
func TestResources(t *testing.T) {
	store, dir := history.NewMemory(), t.TempDir()
	record := func(c *mcp.Config) {
		c.Store, c.StateDir = store, dir
		c.Registry.Engine = engine.New(engine.Config{Store: store, StateDir: dir})
	}
	s := serve(t, record)
	s.write(t, "big", `{name: big, description: Prints much, tags: [free], bash: 'yes äöü | head -c 1400000'}`)
	s.Refresh()
	c := s.connect(t, nil)
	read := func(uri string) (*sdk.ResourceContents, error) {
		r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			return nil, err
		}
		return r.Contents[0], nil
	}
	runOf := func(r *sdk.CallToolResult) string { return fmt.Sprint(r.Meta["flowrun/run"]) }
	run := "flowrun://runs/" + runOf(callTool(t, c, "steps", nil))
	greeted := "flowrun://runs/" + runOf(callTool(t, c, "greet", map[string]any{"NAME": "Ada"}))
	for uri, want := range map[string]string{
		"flowrun://runs":                     `"schema":"flowrun/runs.v1"`,
		run:                                  `"id":"b"`,
		greeted + "/output":                  "Hello Ada 1\n",
		greeted + "/output?offset=6":         "Ada 1\n",
		greeted + "/output?offset=99":        "",
		greeted + "/log":                     "--- greet, attempt 1, stdout ---\nHello Ada 1\n",
		greeted + "/log?step=greet":          "Hello Ada 1\n",
		greeted + "/log?step=greet&offset=4": "greet, attempt 1",
	} {
		got, err := read(uri)
		if err != nil || !strings.Contains(got.Text, want) {
			t.Errorf("%s: %v %v, want %q", uri, got, err, want)
		}
	}
	for _, uri := range []string{"flowrun://runs/nope", "flowrun://runs/../x", run + "/nope", run + "/log?step=nope", run + "/output?offset=-1", run + "/output?offset=x", "file:///etc/passwd"} {
		if got, err := read(uri); err == nil {
			t.Errorf("%s: %q, want an error", uri, got.Text)
		}
	}
	t.Run("large", func(t *testing.T) {
		r := callTool(t, c, "big", nil)
		link, ok := r.Content[len(r.Content)-1].(*sdk.ResourceLink)
		if !ok || *link.Size != 1400000 {
			t.Fatalf("the result is not a link: %v", r.Content)
		}
		var all strings.Builder
		for uri := link.URI; uri != ""; {
			part, err := read(uri)
			if err != nil {
				t.Fatal(err)
			}
			all.WriteString(part.Text)
			uri, _ = part.Meta["flowrun/next"].(string)
		}
		if want := strings.Repeat("äöü\n", 1400000/7); all.String() != want {
			t.Errorf("the parts have %d bytes, and are not the output", all.Len())
		}
	})
	t.Run("of other tools", func(t *testing.T) {
		other := serve(t, func(c *mcp.Config) {
			record(c)
			c.Library, c.Filter.Tools = s.library, []string{"steps"}
		}).connect(t, nil)
		if _, err := other.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: greeted}); err == nil {
			t.Error("a run of a tool that is not offered can be read")
		}
		list, err := other.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "flowrun://runs"})
		if err != nil {
			t.Fatal(err)
		}
		var doc struct{ Runs []struct{ Tool string } }
		if err := json.Unmarshal([]byte(list.Contents[0].Text), &doc); err != nil || len(doc.Runs) != 1 || doc.Runs[0].Tool != "steps" {
			t.Errorf("the list has %v %v", doc, err)
		}
	})
	// The history has the runs of all projects, and their tools can have the same names.
	t.Run("of another project", func(t *testing.T) {
		other := serve(t, record).connect(t, nil)
		for _, uri := range []string{greeted, greeted + "/output", greeted + "/log"} {
			if got, err := other.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%s can be read: %s", uri, got.Contents[0].Text)
			}
		}
		if list, err := other.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "flowrun://runs"}); err != nil || strings.Contains(list.Contents[0].Text, `"tool"`) {
			t.Errorf("the list has %v %v", list, err)
		}
	})
}
