package mcp_test

import (
	"net/http/httptest"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestQuestionOverHTTP checks that a question is sent in the response to the call that it belongs to: a client need not
// open another stream.
func TestQuestionOverHTTP(t *testing.T) {
	s := serve(t, nil)
	h := httptest.NewServer(s.Handler(false))
	defer h.Close()
	o := elicit(func(*sdk.ElicitParams) (*sdk.ElicitResult, error) {
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"where": "here", "often": 3}}, nil
	})
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: h.URL, DisableStandaloneSSE: true}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if r := callTool(t, c, "gate", nil); r.IsError || text(r) != "here 3\n" {
		t.Errorf("%v, %q", r.IsError, text(r))
	}
}
