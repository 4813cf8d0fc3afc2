package mcpclient_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/internal/model/mcpclient"
)

// questioner returns a server whose tool t asks the user a number of times, and returns what it got.
func questioner(t *testing.T, times int, question *sdk.ElicitParams) mcpclient.ServerConfig {
	mcpclient.OfferOverHTTP(t, "2025-11-25")
	s := sdk.NewServer(&sdk.Implementation{Name: "questioner", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "t", InputSchema: json.RawMessage(`{"type": "object"}`)}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		text := ""
		for range times {
			res, err := req.Session.Elicit(ctx, question)
			if err != nil {
				return nil, err
			}
			values, _ := json.Marshal(res.Content)
			text += res.Action + " " + string(values) + "\n"
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	t.Cleanup(web.Close)
	return mcpclient.ServerConfig{Name: "s", HTTPURL: web.URL, Timeout: time.Minute}
}

const form = `{"type": "object", "required": ["n"], "properties": {
	"n": {"type": "integer", "minimum": 1}, "yes": {"type": "boolean", "default": true}, "age": {"type": "integer", "default": 30},
	"size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}], "default": "l"}}}`

// TestElicitation is a server that asks the user during a call.
func TestElicitation(t *testing.T) {
	accept := func(values map[string]any) func(q history.Question) (history.Answer, error) {
		return func(q history.Question) (history.Answer, error) {
			filled, err := q.Check(values)
			return history.Answer{Approve: true, Values: filled}, err
		}
	}
	for _, w := range []struct {
		name, schema string
		answer       func(q history.Question) (history.Answer, error)
		want         string
	}{
		{"accept", form, accept(map[string]any{"n": "3"}), `accept {"age":30,"n":3,"size":"l","yes":true}`},
		{"no fields", `{"type": "object", "properties": {}}`, accept(nil), `accept`},
		{"decline", form, func(history.Question) (history.Answer, error) { return history.Answer{}, nil }, "decline"},
		{"cancel", form, func(history.Question) (history.Answer, error) { return history.Answer{}, waiting.ErrNoApprover }, "cancel"},
		{"nobody", form, nil, "decline"},
	} {
		t.Run(w.name, func(t *testing.T) {
			c := mcpclient.Config{Servers: []mcpclient.ServerConfig{questioner(t, 1, &sdk.ElicitParams{Message: "How\x1b[2J many?", RequestedSchema: json.RawMessage(w.schema)})}}
			if w.answer != nil {
				c.Ask = func(_ context.Context, server string, q history.Question) (history.Answer, error) {
					if server != "s" || q.Prompt != "How[2J many?" {
						t.Errorf("%s asks %q", server, q.Prompt)
					}
					if q.Form != nil && len(q.Form.Field("size").Enum) != 2 {
						t.Error("the choices with titles are not shown")
					}
					return w.answer(q)
				}
			}
			a := useWith(t, c).call(t.Context(), "s__t", "{}")
			if a.Error != nil || !strings.HasPrefix(a.Content.Text(), w.want) {
				t.Errorf("the server got %q (%s), want %q", a.Content.Text(), errorOf(a), w.want)
			}
		})
	}
}

// TestElicitationLimits: a server asks a limited number of times, and shows no page on the web.
func TestElicitationLimits(t *testing.T) {
	asked := 0
	ask := func(context.Context, string, history.Question) (history.Answer, error) {
		asked++
		return history.Answer{Approve: true}, nil
	}
	c := mcpclient.Config{Servers: []mcpclient.ServerConfig{questioner(t, 25, &sdk.ElicitParams{Message: "More?"})}, Ask: ask}
	if a := useWith(t, c).call(t.Context(), "s__t", "{}"); a.Error != nil || asked != 20 || strings.Count(a.Content.Text(), "decline") != 5 {
		t.Errorf("the user was asked %d times: %s %q", asked, errorOf(a), a.Content.Text())
	}
	asked = 0
	c.Servers = []mcpclient.ServerConfig{questioner(t, 1, &sdk.ElicitParams{Mode: "url", Message: "Pay", URL: "https://example.com", ElicitationID: "1"})}
	if useWith(t, c).call(t.Context(), "s__t", "{}"); asked != 0 {
		t.Error("the user was asked to open a page")
	}
}
