package preview

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// maxValue limits the length of one parameter in a description.
const maxValue = 60

// Describe returns one sentence that says what a call will do. Secrets are masked.
func Describe(ctx context.Context, params *call.Params) string {
	p := params.Plan
	v, mask, err := previewWithMask(ctx, params, nil)
	if g := goTool(p); g != nil && g.Describe != nil {
		if text, ok := gostep.SafeDescribe(g, gostep.InputOf(params.Frame()).Params); ok {
			return value.OneLine(mask.String(text), gostep.MaxDescribed)
		}
	}
	if err != nil { // for example a missing variable; the run reports it
		return value.OneLine(titleOf(p), gostep.MaxDescribed)
	}
	// A discovered tool gets its parameters on standard input, so its command does not show them.
	if d := p.Definition; d.Single && len(v.Steps) == 1 && p.Steps[0].Command != nil && !p.CallsProgram() {
		return "Runs: " + value.OneLine(v.Steps[0].Command, gostep.MaxDescribed-len("Runs: "))
	}
	return value.OneLine(titleOf(p)+parameterSummary(v, len(p.Steps)), gostep.MaxDescribed)
}

// titleOf returns the name of the tool and its description.
func titleOf(p *plan.Plan) string {
	if d := p.Definition.Description; d != "" {
		return p.Name() + ": " + strings.TrimRight(strings.TrimSpace(d), ".")
	}
	return p.Name()
}

// parameterSummary returns the parameters in words, and the number of steps if there is more than one.
func parameterSummary(v *Preview, steps int) string {
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

// inWords returns a value as text, lists and objects as JSON.
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
