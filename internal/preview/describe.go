package preview

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/gostep"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/internal/value"
)

// maxValue bounds one parameter in such a sentence.
const maxValue = 60

// Describe says in one sentence what a call will do. Secrets are masked.
func Describe(ctx context.Context, params *call.Params) string {
	p := params.Plan
	v, mask, err := look(ctx, params)
	if g := goTool(p); g != nil && g.Describe != nil {
		if text, ok := gostep.Described(g, gostep.InputOf(params.Frame()).Params); ok {
			return value.OneLine(mask.String(text), gostep.MaxDescribed)
		}
	}
	if err != nil { // a variable is missing, say; the run will tell
		return value.OneLine(announced(p), gostep.MaxDescribed)
	}
	// What a discovered tool is given stands on its standard input, and not in the command.
	if d := p.Definition; d.Single && len(v.Steps) == 1 && p.Steps[0].Command != nil && !p.CallsProgram() {
		return "Runs: " + value.OneLine(v.Steps[0].Command, gostep.MaxDescribed-len("Runs: "))
	}
	return value.OneLine(announced(p)+inParentheses(v, len(p.Steps)), gostep.MaxDescribed)
}

// announced is the tool and what it is for.
func announced(p *plan.Plan) string {
	if d := p.Definition.Description; d != "" {
		return p.Name() + ": " + strings.TrimRight(strings.TrimSpace(d), ".")
	}
	return p.Name()
}

// inParentheses are the parameters in words, and how many steps there are where they are
// several.
func inParentheses(v *Preview, steps int) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(v.Params)) {
		words = append(words, name+"="+value.OneLine(inWords(v.Params[name]), maxValue))
	}
	text := strings.Join(words, ", ")
	if steps > 1 {
		text = strings.TrimPrefix(fmt.Sprintf("%s; %d steps", text, steps), "; ")
	}
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// inWords is a value as text; what is no scalar as JSON.
func inWords(v any) string {
	switch v.(type) {
	case []any, map[string]any:
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(b)
	}
	return value.Plain(v)
}
