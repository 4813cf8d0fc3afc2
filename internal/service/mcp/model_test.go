//lint:file-ignore SA1019 clients of older versions of the protocol offer their models

package mcp_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/service/mcp"
)

// TestAskModel checks which model answers a script: that of the client if it can be asked, otherwise that of the engine.
func TestAskModel(t *testing.T) {
	scripts := hooks.New(hooks.Config{InProcess: true})
	defer scripts.Close()
	own := engine.New(engine.Config{JavaScript: scripts, AskModel: func(context.Context, call.ModelRequest) (string, error) { return "own", nil }})
	s := serve(t, func(c *mcp.Config) {
		c.Library.Handle(".tool.js", hooks.Loader(hooks.LoaderConfig{Runtime: scripts}))
		c.Registry.Engine = own
	})
	script := `module.exports = {
  getMetadata: () => ({ id: 'guess', description: 'Asks a model', tags: ['free'], permissions: ['model'] }),
  async execute () { return 'answer: ' + await this.api.askModel('why?', { systemPrompt: 'be brief', maxTokens: 7 }) },
}`
	if err := os.WriteFile(filepath.Join(s.folder, "guess.tool.js"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Refresh()
	answer := func(c sdk.Content, err error) *sdk.ClientOptions {
		return &sdk.ClientOptions{CreateMessageHandler: func(_ context.Context, r *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
			p := r.Params
			if q, ok := p.Messages[0].Content.(*sdk.TextContent); !ok || len(p.Messages) != 1 || q.Text != "why?" || p.Messages[0].Role != "user" || p.SystemPrompt != "be brief" || p.MaxTokens != 7 {
				t.Errorf("the client is asked %+v", p)
			}
			return &sdk.CreateMessageResult{Role: "assistant", Model: "m", Content: c}, err
		}}
	}
	because := &sdk.TextContent{Text: "because"}
	for name, c := range map[string]struct {
		client  *sdk.ClientOptions
		version string
		want    string
		fails   bool
	}{
		"the model of the client":   {answer(because, nil), "2025-11-25", "answer: because", false},
		"a client without a model":  {nil, "2025-11-25", "answer: own", false},
		"a version without a model": {answer(because, nil), "2026-07-28", "answer: own", false},
		"an error":                  {answer(because, errors.New("the user said no")), "2025-11-25", "the user said no", true},
		"a picture":                 {answer(&sdk.ImageContent{MIMEType: "image/png", Data: []byte("x")}, nil), "2025-11-25", "not text", true},
	} {
		t.Run(name, func(t *testing.T) {
			if r := callTool(t, s.connectWith(t, c.client, c.version), "guess", nil); r.IsError != c.fails || !strings.Contains(text(r), c.want) {
				t.Errorf("%v, %q, want %q", r.IsError, text(r), c.want)
			}
		})
	}
}
