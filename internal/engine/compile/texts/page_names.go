package texts

import (
	"regexp"
	"slices"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// markdownNames resolves the roots of references in a step of a Markdown tool.
type markdownNames struct {
	Names
	step      *tool.Step
	processed *tool.Step // input is the result of this step; nil if there is no pre-processing
	added     bool       // flowrun itself has added the reference
}

// OnPage returns the names for the values of a step of a Markdown tool. added reports that flowrun itself has added the
// reference.
func (n Names) OnPage(s *tool.Step, added bool) Scope {
	page := markdownNames{Names: n, step: s, added: added}
	if pre := PreStep(n.def); pre != s {
		page.processed = pre
	}
	return page
}

// PreStep returns the pre-processing step of a Markdown tool, or nil.
func PreStep(def *tool.Definition) *tool.Step {
	if len(def.Steps) > 0 && def.Steps[0].Name == plan.StepPre && def.Steps[0].Script() != nil {
		return def.Steps[0]
	}
	return nil
}

// Constant returns the variable in the scope of a script for a name that is fixed for a run, "" for other names.
func Constant(name string) string {
	return map[string]string{"date": "DATE", "time": "TIME", "random_id": plan.RandomID}[name]
}

// pageWords are the names that have a meaning of their own in a Markdown tool.
var pageWords = []string{"input", plan.StepPre, "prev_step", "output"}

// Property reports whether {{name}} means {{input.name}}: after pre-processing for every name without another meaning,
// and for a parameter whose name is a word of the format if no path follows it.
func (n markdownNames) Property(name string, alone bool) bool {
	declared := n.HasParameter(name)
	switch {
	case n.added:
		return false
	case slices.Contains(pageWords, name):
		return alone && declared
	case n.processed == nil || n.Symbol(name).Class != expr.Unknown:
		return false
	}
	return declared || ScriptMentions(n.processed, name) || len(diagnostic.Near(name, n.Steps())) == 0
}

// ScriptMentions reports whether a script contains a name, so that it may set a property with that name.
func ScriptMentions(script *tool.Step, name string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(script.Script().Code.S)
}

// Symbol resolves id. The words of the format take precedence over parameters. After pre-processing, a parameter is a
// property of the input.
func (n markdownNames) Symbol(id string) expr.Symbol {
	switch id {
	case "input":
		if n.processed != nil {
			return expr.Symbol{Class: expr.Step, As: plan.StepPre}
		}
		return expr.Symbol{Class: expr.Arguments}
	case "prev_step":
		if n.step.Previous != "" {
			return expr.Symbol{Class: expr.Step, As: n.step.Previous}
		}
		return expr.Symbol{}
	case "output":
		return expr.Symbol{}
	}
	s := n.Names.Symbol(id)
	switch as := Constant(id); {
	case as != "" && (n.added || s.Class == expr.Unknown):
		return expr.Symbol{Class: expr.Variable, As: as}
	case s.Class == expr.Parameter && n.processed != nil:
		return expr.Symbol{}
	}
	return s
}

// OutOfReach explains why a word of the format is not available here.
func (n markdownNames) OutOfReach(id string) (message, hint string) {
	switch id {
	case "output":
		return "output is only available in post-processing", `write prev_step.output; if it is meant as text, add !literal before it`
	case "prev_step":
		return "there is no previous step", "write input.NAME for a parameter of the tool"
	case plan.StepPre:
		return "the page has no pre-processing", "write input.NAME for a parameter of the tool"
	}
	return n.Names.OutOfReach(id)
}
