package compile

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/tool"
)

// compiler is one Compile call.
type compiler struct {
	lib      *tool.Library
	release  string
	problems tool.Diagnostics
	chain    []string // tools being compiled, outermost first
	done     map[nestedKey]*plan.Plan
	sources  []tool.Source
}

// nestedKey is a way to use a tool: whether its output is read, and what its user
// says of interruptions.
type nestedKey struct {
	def       *tool.Definition
	keep      bool
	interrupt plan.Interrupt
}

func (c *compiler) report(d tool.Diagnostic) { c.problems = append(c.problems, d) }

func (c *compiler) errorf(code string, at tool.Text, hint, format string, args ...any) {
	c.report(tool.Diagnostic{Code: code, Severity: tool.Error, Pos: at.Pos, Len: len([]rune(at.S)),
		Message: fmt.Sprintf(format, args...), Hint: hint})
}

// found adds what expr says of a text, with its place in the file and the nearest
// of the names that it could have meant.
func (c *compiler) found(at tool.Text, path string, ps []expr.Problem, n expr.Names) bool {
	bad := false
	for _, p := range ps {
		d := tool.Diagnostic{Code: p.Code, Severity: tool.Error, Pos: at.At(p.Off), Len: p.Len, Path: path, Message: p.Message, Hint: p.Hint}
		if p.Warning {
			d.Severity = tool.Warning
		}
		end := min(p.Off+p.Len, len(at.S))
		ref := at.S[p.Off:end]
		if near := nearestCall(ref, at.S[end:]); near != "" {
			d.Hint = fmt.Sprintf("did you mean %s()?", near)
		} else if near := nearest(ref, p.Code, n); beyond(&d, ref, n) {
			d.Severity = tool.Error // it is no text that only looks like a reference
		} else if len(near) > 0 {
			d.Hint = fmt.Sprintf("did you mean %q?", near[0])
			if len(near) == 1 && d.Severity == tool.Error { // a warning's text runs as it is
				d.Fix = at.Rename(p.Off+strings.Index(ref, rootOf(ref)), rootOf(ref), near[0])
			}
		}
		bad = bad || d.Severity == tool.Error
		c.report(d)
	}
	return bad
}

// beyond says whether an unknown reference is to something that there is elsewhere, and
// then tells so.
func beyond(d *tool.Diagnostic, ref string, n expr.Names) bool {
	known, ok := n.(interface {
		outOfReach(id string) (message, hint string)
	})
	if !ok || d.Code != expr.CodeUnknown && d.Code != expr.CodeUndeclared {
		return false
	}
	if n.Symbol(rootOf(ref)).Class != expr.Unknown {
		return false // it can be named, but not so
	}
	message, hint := known.outOfReach(rootOf(ref))
	if message != "" {
		d.Message, d.Hint = message, hint
	}
	return message != ""
}

// rootOf is the name that a reference begins with.
func rootOf(ref string) string {
	root, _, _ := strings.Cut(strings.Trim(ref, "{}'\""), ".")
	return root
}

// nearest are the known names closest to the root of an unknown reference, best first.
func nearest(ref, code string, n expr.Names) []string {
	known, ok := n.(interface{ ids() []string })
	if !ok || code != expr.CodeUnknown && code != expr.CodeUndeclared || n.Symbol(rootOf(ref)).Class != expr.Unknown {
		return nil
	}
	return tool.Near(rootOf(ref), known.ids())
}

// nearestCall is the function closest to a name that is called and is none.
func nearestCall(name, rest string) string {
	if !strings.HasPrefix(strings.TrimSpace(rest), "(") {
		return ""
	}
	if near := tool.Near(name, expr.Functions()); len(near) > 0 {
		return near[0]
	}
	return ""
}

// template parses a text; nil stays nil.
func (c *compiler) template(at *tool.Text, path string, sh expr.Shell, n expr.Names) *expr.Template {
	if at == nil {
		return nil
	}
	t, ps := parse(at.S, sh, n)
	if c.found(*at, path, ps, n) {
		return nil
	}
	c.lintItem(*at, path, n)
	return t
}

// parse reads a text in the language of references that it is written in.
func parse(text string, sh expr.Shell, n expr.Names) (*expr.Template, []expr.Problem) {
	if page, ok := n.(markdownNames); ok {
		return expr.ParseMarkdown(text, page)
	}
	return expr.ParseTemplate(text, sh, n)
}

func (c *compiler) condition(at *tool.Text, path string, n expr.Names) *expr.Condition {
	if at == nil {
		return nil
	}
	cond, ps := expr.ParseCondition(at.S, n)
	if c.found(*at, path, ps, n) {
		return nil
	}
	return cond
}
