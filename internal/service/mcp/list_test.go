package mcp_test

import (
	"context"
	"slices"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service/mcp"
)

// TestCompiledWhenAsked checks that a tool is compiled when a client calls it or asks for its page of the list, and that
// clients see the same list as if all had been compiled before.
func TestCompiledWhenAsked(t *testing.T) {
	mcp.SetListPage(t, 3)
	var compiled []string
	s := serve(t, func(c *mcp.Config) {
		c.Filter.Permits = func(p *engine.Plan) bool { compiled = append(compiled, p.Name()); return true }
	})
	news := make(chan struct{}, 10)
	c := s.connect(t, &sdk.ClientOptions{ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { news <- struct{}{} }})
	check := func(after string, want ...string) {
		t.Helper()
		if !slices.Equal(compiled, want) {
			t.Errorf("after %s, %q are compiled", after, compiled)
		}
	}
	check("initialize")
	if r := callTool(t, c, "steps", nil); r.IsError {
		t.Errorf("a call: %s", text(r))
	}
	check("a call", "steps")
	if r := callTool(t, c, "execute_tool", map[string]any{"tool_name": "fail"}); !r.IsError {
		t.Errorf("a call by name: %s", text(r))
	}
	check("a call by name", "steps", "fail")
	page, err := c.ListTools(t.Context(), nil)
	if err != nil || len(page.Tools) != 3 || page.NextCursor == "" {
		t.Errorf("one page: %v, %v", page, err)
	}
	check("one page", "steps", "fail", "ask", "count")
	var names []string
	for one, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, one.Name)
	}
	if want := []string{"ask", "count", "execute_tool", "fail", "gate", "greet", "json", "never", "steps"}; !slices.Equal(names, want) {
		t.Errorf("all tools are %q", names)
	}
	check("all pages", "steps", "fail", "ask", "count", "gate", "greet", "json", "never")
	if len(news) > 0 {
		t.Error("the client gets a notification that the list has changed")
	}
}
