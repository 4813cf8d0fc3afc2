//lint:file-ignore SA1019 clients of older versions of the protocol offer their models

package mcp

import (
	"context"
	"errors"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// withoutSampling is the first version of the protocol in which the model of the client cannot be asked during a call.
const withoutSampling = "2026-07-28"

// offersModel reports whether scripts can ask the model of the client.
func (c *toolCall) offersModel() bool {
	if c.client == nil || c.client.Sampling == nil {
		return false
	}
	p := c.session.InitializeParams()
	return p != nil && p.ProtocolVersion < withoutSampling
}

// askModel implements flowrun.WithAskModel with the model of the client.
func (c *toolCall) askModel(ctx context.Context, r call.ModelRequest) (string, error) {
	answer, err := c.session.CreateMessage(c.within(ctx), &mcp.CreateMessageParams{MaxTokens: r.MaxTokens, SystemPrompt: r.SystemPrompt,
		Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: r.Prompt}}}})
	if err != nil {
		return "", err
	}
	text, ok := answer.Content.(*mcp.TextContent)
	if !ok {
		return "", errors.New("the answer of the client's model is not text")
	}
	return text.Text, nil
}
