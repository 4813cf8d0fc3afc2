package flowrun

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/tool"
)

// mostDescribed bounds a sentence that says what a call will do, in characters.
const mostDescribed = 240

// mostValue bounds one parameter in such a sentence.
const mostValue = 60

// describe says in one sentence what a call will do. a is not used up. Secrets are masked.
func (p *compiledPlan) describe(ctx context.Context, a *callArgs) string {
	copied := *a // a preview is of no use afterwards
	v, err := p.preview(ctx, &copied)
	if g := p.goTool(); g != nil && g.Describe != nil {
		if text, ok := g.described(a.stepInput().Params); ok {
			if copied.Session() != nil {
				text = copied.Session().Mask().String(text)
			}
			return oneLine(text, mostDescribed)
		}
	}
	if err != nil { // a variable is missing, say; the run will tell
		return oneLine(p.announced(), mostDescribed)
	}
	// What a discovered tool is given stands on its standard input, and not in the command.
	if d := p.Definition; d.Single && len(v.Steps) == 1 && p.steps[0].command != nil && d.Steps[0].Kind != tool.Program {
		return "Runs: " + oneLine(v.Steps[0].Command, mostDescribed-len("Runs: "))
	}
	return oneLine(p.announced()+inParentheses(v, len(p.steps)), mostDescribed)
}

// told is the call in words: what Describe says of the parameters; where they are not all
// known before the run, and it might say something wrong of them, what the tool is for.
func (t *GoTool) told(a *callArgs) string {
	if a != nil && !a.guessed && t.Describe != nil {
		if text, ok := t.described(a.stepInput().Params); ok {
			return oneLine(text, mostDescribed)
		}
	}
	purpose, _, _ := strings.Cut(t.Description, ". ") // the rest is for models
	return cmp.Or(oneLine(strings.TrimRight(purpose, "."), mostDescribed), "(Go function)")
}

// described is what the tool's Describe says; nothing where that panics.
func (t *GoTool) described(params map[string]any) (text string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return t.Describe(params), true
}

// confirmed is what the tool's Confirm says; that it panicked is an error.
func (t *GoTool) confirmed(ctx context.Context, in *StepInput) (c *Confirmation, err error) {
	defer func() {
		if v := recover(); v != nil {
			c, err = nil, fmt.Errorf("panic: %v", v)
		}
	}()
	return t.Confirm(ctx, in)
}

// announced is the tool and what it is for.
func (p *compiledPlan) announced() string {
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
		words = append(words, name+"="+oneLine(inWords(v.Params[name]), mostValue))
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
	return plain(v)
}

// oneLine is a text in one line of at most that many characters.
func oneLine(s string, most int) string {
	if len(s) > most*8 { // what follows is cut in any case
		s = strings.ToValidUTF8(s[:most*8], "")
	}
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
