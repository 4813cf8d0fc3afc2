package compile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// A Markdown tool differs from other tools in the syntax of its references. This file resolves them. Package tool has
// made ordinary steps from the page.

// markdownNames resolves the roots of references in a step of a Markdown tool.
type markdownNames struct {
	names
	step      *tool.Step
	processed *tool.Step // input is the result of this step; nil if there is no pre-processing
	added     bool       // flowrun itself has added the reference
}

// valueNames returns the names for values of the step: under with, or in the scope of a script.
func valueNames(c *stepTexts) scope {
	if c.definition.Format != tool.Markdown {
		return c.names
	}
	n := markdownNames{names: c.names, step: c.step}
	if pre := preStep(c.definition); pre != c.step {
		n.processed = pre
	}
	return n
}

// scriptNames returns the names for a variable in the scope of a script. Only a script before the tool of a step has a
// variable that the author wrote: the parameters of that step.
func scriptNames(c *stepTexts, variable string) scope {
	n, ok := valueNames(c).(markdownNames)
	if !ok {
		return c.names
	}
	n.added = variable != "input" || c.step.Script().Role != tool.RolePre || c.step == preStep(c.definition)
	return n
}

// preStep returns the pre-processing step of a Markdown tool, or nil.
func preStep(def *tool.Definition) *tool.Step {
	if len(def.Steps) > 0 && def.Steps[0].Name == plan.StepPre && def.Steps[0].Script() != nil {
		return def.Steps[0]
	}
	return nil
}

// constants are fixed for a run. The values are the names of the variables in a scope.
var constants = map[string]string{"date": "DATE", "time": "TIME", "random_id": plan.RandomID}

// pageWords are the names that have a meaning of their own in a Markdown tool.
var pageWords = []string{"input", plan.StepPre, "prev_step", "output"}

// Property reports whether {{name}} means {{input.name}}: after pre-processing for every name without another meaning,
// and for a parameter whose name is a word of the format if no path follows it.
func (n markdownNames) Property(name string, alone bool) bool {
	_, declared := n.params[name]
	switch {
	case n.added:
		return false
	case slices.Contains(pageWords, name):
		return alone && declared
	case n.processed == nil || n.Symbol(name).Class != expr.Unknown:
		return false
	}
	return declared || scriptMentions(n.processed, name) || len(tool.Near(name, n.stepNames())) == 0
}

// scriptMentions reports whether a script contains a name, so that it may set a property with that name.
func scriptMentions(script *tool.Step, name string) bool {
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
	s := n.names.Symbol(id)
	switch as := constants[id]; {
	case as != "" && (n.added || s.Class == expr.Unknown):
		return expr.Symbol{Class: expr.Variable, As: as}
	case s.Class == expr.Parameter && n.processed != nil:
		return expr.Symbol{}
	}
	return s
}

// outOfReach explains why a word of the format is not available here.
func (n markdownNames) outOfReach(id string) (message, hint string) {
	switch id {
	case "output":
		return "output is only available in post-processing", `write prev_step.output; if it is meant as text, add !literal before it`
	case "prev_step":
		return "there is no previous step", "write input.NAME for a parameter of the tool"
	case plan.StepPre:
		return "the page has no pre-processing", "write input.NAME for a parameter of the tool"
	}
	return n.names.outOfReach(id)
}

// checkLater returns the problem of a reference in the first step of list to itself or to a later step: the steps of a
// Markdown tool run in order.
func checkLater(list []*tool.Step, e edge) tool.Diagnostics {
	if !slices.ContainsFunc(list, func(s *tool.Step) bool { return s.Name == e.to }) {
		return nil
	}
	return tool.Diagnostics{{Code: "cycle", Severity: tool.Error, Pos: e.pos(), Len: 1,
		Message: fmt.Sprintf("step %q runs later than this step", e.to), Hint: "refer to an earlier step, or move that step up: the steps of a chain run in order"}}
}

// warnUndeclared warns about fields of the input that are not parameters and that no script sets. It is only a warning,
// because a caller may pass them.
func warnUndeclared(c *stepTexts, at tool.Text, refs []expr.Ref) {
	if c.definition.Format != tool.Markdown {
		return
	}
	for _, r := range refs {
		path := r.Path
		if r.Class == expr.Step && r.Root == plan.StepPre && len(path) > 1 {
			path = path[1:] // skip value
		} else if r.Class != expr.Arguments {
			continue
		}
		if len(path) > 0 && !path[0].IsIndex {
			warnUndeclaredField(c, tool.Text{S: at.S[r.Off : r.Off+r.Len], Pos: at.At(r.Off)}, path[0].Field)
		}
	}
}

// warnUndeclaredMentions is warnUndeclared for the fields of input that a script reads, if its input is that of the tool.
// Fields that the script itself sets are not reported.
func warnUndeclaredMentions(c *stepTexts, script *jsrun.Script) {
	in := c.step.Script()
	if in.Role == tool.RolePre && c.step.Name != plan.StepPre { // its input is the parameters of its step
		return
	}
	list, _, _ := script.Mentions("input")
	for _, m := range list {
		sets := regexp.MustCompile(`\binput\.` + regexp.QuoteMeta(m.Name) + `\s*=[^=]`)
		if !sets.MatchString(in.Code.S) {
			warnUndeclaredField(c, tool.Text{S: in.Code.S[m.Off : m.Off+m.Len], Pos: in.Code.At(m.Off)}, m.Name)
		}
	}
}

// pagePlaceholder matches {{NAME}} in a script, and the comments, in which it may stand.
var pagePlaceholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m:^[ \t]*//[^\n]*)|(?s:/\*.*?\*/)|\{\{[ \t]*([A-Za-z_][\w-]*)[^\s{}]*[ \t]*\}\}`)
})

// warnPagePlaceholders warns about placeholders in a script of a Markdown tool: they are not replaced there.
func warnPagePlaceholders(c *stepTexts, code tool.Text) {
	for _, at := range pagePlaceholder().FindAllStringSubmatchIndex(code.S, -1) {
		if at[2] < 0 {
			continue // a comment
		}
		name := code.S[at[2]:at[3]]
		way := ""
		if _, declared := c.names.params[name]; declared {
			way = "input." + name
		} else if constants[name] != "" {
			way = name
		} else {
			continue
		}
		c.report(tool.Diagnostic{Code: "js-placeholder", Severity: tool.Warning, Pos: code.At(at[0]), Len: at[1] - at[0],
			Message: code.S[at[0]:at[1]] + " is only text in JavaScript: flowrun does not replace placeholders in scripts", Hint: placeholderHint(code.S, at[0], at[1], way)})
	}
}

// placeholderHint returns the hint for the placeholder from..to in a script, whose value is in the variable way.
func placeholderHint(code string, from, to int, way string) string {
	if from > 0 && to < len(code) && code[from-1] == code[to] && strings.IndexByte("\"'`", code[to]) >= 0 {
		return fmt.Sprintf("replace %s, with its quotes, by %s", code[from-1:to+1], way)
	}
	return fmt.Sprintf("write %s outside quotes, or ${%[1]s} between backticks", way)
}

// warnUndeclaredField warns about one field at a position.
func warnUndeclaredField(c *stepTexts, at tool.Text, field string) {
	def := c.definition
	if slices.ContainsFunc(def.Parameters, func(p *tool.Parameter) bool { return p.Name == field }) {
		return
	}
	if pre := preStep(def); pre != nil && pre != c.step && scriptMentions(pre, field) {
		return // pre-processing may set that field
	}
	var known []string
	for _, p := range def.Parameters {
		known = append(known, p.Name)
	}
	hint := didYouMean(field, known, "declare it, or set it in pre-processing; otherwise the caller has to pass it")
	c.report(tool.Diagnostic{Code: "undeclared-input", Severity: tool.Warning, Pos: at.Pos, Len: max(1, len([]rune(at.S))),
		Message: fmt.Sprintf("the tool has no parameter %q", field), Hint: hint})
}

// argumentOf returns the name of the argument of the call that a reference reads.
func argumentOf(r expr.Ref) string {
	if len(r.Path) > 0 {
		return r.Path[0].Field
	}
	return plan.AnyArgument
}
