package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/internal/engine/call"
)

// defaultMaxTokens limits an answer for which the script sets no limit.
const defaultMaxTokens = 1000

// askModel asks a language model. The permissions of the tool must contain model, and the model sees no secrets.
func (t *toolAPI) askModel(ctx context.Context, args json.RawMessage) (any, error) {
	in := struct {
		Prompt, SystemPrompt string
		MaxTokens            int64
	}{MaxTokens: defaultMaxTokens}
	switch err := json.Unmarshal(args, &in); {
	case err != nil:
		return nil, fmt.Errorf("cannot read the arguments of api.askModel: %w", err)
	case in.MaxTokens < 1:
		return nil, errors.New("api.askModel: maxTokens must be a whole number above 0")
	}
	if err := call.Grants(t.args).AskModel(); err != nil {
		return nil, err
	}
	mask := t.args.Session().Mask()
	answer, err := t.args.RunEnv.Model.Ask(ctx, call.ModelRequest{Tool: t.args.Plan.Name(), Prompt: mask.String(in.Prompt),
		SystemPrompt: mask.String(in.SystemPrompt), MaxTokens: in.MaxTokens})
	if err != nil {
		return nil, fmt.Errorf("cannot ask a language model: %w", err)
	}
	return answer, nil
}
