package compile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/engine/compile/texts"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// A Markdown tool differs from other tools in the syntax of its references. Package tool has made ordinary steps from the
// page.

// valueNames returns the names for values of the step: under with, or in the scope of a script.
func valueNames(c *stepTexts) texts.Scope {
	if c.definition.Format != tool.Markdown {
		return c.names
	}
	return c.names.OnPage(c.step, false)
}

// scriptNames returns the names for a variable in the scope of a script. Only a script before the tool of a step has a
// variable that the author wrote: the parameters of that step.
func scriptNames(c *stepTexts, variable string) texts.Scope {
	if c.definition.Format != tool.Markdown {
		return c.names
	}
	return c.names.OnPage(c.step, variable != "input" || c.step.Script().Role != tool.RolePre || c.step == texts.PreStep(c.definition))
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
		if c.names.HasParameter(name) {
			way = "input." + name
		} else if texts.Constant(name) != "" {
			way = name
		} else {
			continue
		}
		c.Report(tool.Diagnostic{Code: "js-placeholder", Severity: tool.Warning, Pos: code.At(at[0]), Len: at[1] - at[0],
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
	if pre := texts.PreStep(def); pre != nil && pre != c.step && texts.ScriptMentions(pre, field) {
		return // pre-processing may set that field
	}
	var known []string
	for _, p := range def.Parameters {
		known = append(known, p.Name)
	}
	hint := texts.DidYouMean(field, known, "declare it, or set it in pre-processing; otherwise the caller has to pass it")
	c.Report(tool.Diagnostic{Code: "undeclared-input", Severity: tool.Warning, Pos: at.Pos, Len: max(1, len([]rune(at.S))),
		Message: fmt.Sprintf("the tool has no parameter %q", field), Hint: hint})
}

// argumentOf returns the name of the argument of the call that a reference reads.
func argumentOf(r expr.Ref) string {
	if len(r.Path) > 0 {
		return r.Path[0].Field
	}
	return plan.AnyArgument
}
