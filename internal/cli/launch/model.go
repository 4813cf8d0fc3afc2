package launch

import (
	"context"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/service/config"
)

// modelRequest is what the program of tools.samplingCommand gets if a script asks: the tool, and a request in the form of
// MCP, so that the program can answer servers too.
type modelRequest struct {
	Tool         string         `json:"tool"`
	Messages     []modelMessage `json:"messages"`
	SystemPrompt string         `json:"systemPrompt,omitempty"`
	MaxTokens    int64          `json:"maxTokens"`
}

type modelMessage struct {
	Role    string    `json:"role"`
	Content modelText `json:"content"`
}

type modelText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// AskModel returns the function for flowrun.Config.AskModel, nil if the settings have no program that answers.
func AskModel(c *config.Config) func(context.Context, call.ModelRequest) (string, error) {
	sampler := ui.Sampler(c)
	if sampler == nil {
		return nil
	}
	return func(ctx context.Context, r call.ModelRequest) (string, error) {
		answer, err := sampler.Sample(ctx, modelRequest{r.Tool, []modelMessage{{"user", modelText{"text", r.Prompt}}}, r.SystemPrompt, r.MaxTokens})
		return answer.Text, err
	}
}
