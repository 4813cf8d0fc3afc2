package compile

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/compile/check"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// compiler holds the state of one call of Tool or Definition.
type compiler struct {
	lib      *library.Library
	release  string
	problems tool.Diagnostics
	chain    []string // tools being compiled, outermost first
	compiled map[nestedKey]*plan.Plan
	sources  []tool.Source
	found    map[plan.Name]*tool.Definition

	artifactMentions map[*plan.Plan][]artifactMention // to be checked when the plan is complete; nil: none yet
}

func newCompiler(lib *library.Library, release string) *compiler {
	return &compiler{lib: lib, release: release, compiled: map[nestedKey]*plan.Plan{}, found: map[plan.Name]*tool.Definition{}}
}

// nestedKey identifies one way to use a tool: whether its output is read, and the interruption setting of the step that
// uses it.
type nestedKey struct {
	def        *tool.Definition
	outputRead bool
	interrupt  plan.Interrupt
}

func (c *compiler) report(ds ...tool.Diagnostic) { c.problems = append(c.problems, ds...) }

func (c *compiler) errorf(code string, at tool.Text, hint, format string, args ...any) {
	c.report(check.Errorf(code, at, hint, format, args...))
}

// reportProblems reports the problems that package expr found in a text, with their positions in the file and a similar
// name as a suggestion. It reports whether one of them is an error.
func (c *compiler) reportProblems(at tool.Text, path string, ps []expr.Problem, n expr.Names) bool {
	bad := false
	for _, p := range ps {
		if isRenamedItem(at.S, p, n) {
			continue // lintItem reports it
		}
		d := tool.Diagnostic{Code: p.Code, Severity: tool.Error, Pos: at.At(p.Off), Len: p.Len, Path: path, Message: p.Message, Hint: p.Hint}
		if p.Warning {
			d.Severity = tool.Warning
		}
		end := min(p.Off+p.Len, len(at.S))
		ref := at.S[p.Off:end]
		if p.Code == expr.CodeMisspelt {
			d.Fix = misspeltFix(at, p, ref, n)
		} else if name := strings.Trim(ref, "{}"); p.Code == expr.CodeUndeclared && isSecret(n, name) {
			d.Hint = fmt.Sprintf("write $%s in a script, or {env.%[1]s}", name)
		} else if near := nearestCall(ref, at.S[end:]); near != "" {
			d.Hint = fmt.Sprintf("did you mean %s()?", near)
		} else if near := nearest(ref, p.Code, n); explainUnavailable(&d, ref, n) {
			if strings.ContainsAny(ref, ".[") {
				d.Severity = tool.Error // the name exists elsewhere, so this is not just text that looks like a reference
			}
		} else if len(near) > 0 {
			d.Hint = fmt.Sprintf("did you mean %q?", near[0])
			if len(near) == 1 && d.Severity == tool.Error { // after a warning, the text is used unchanged
				d.Fix = at.Rename(p.Off+strings.Index(ref, rootOf(ref)), rootOf(ref), near[0])
			}
		}
		bad = bad || d.Severity == tool.Error
		c.report(d)
	}
	return bad
}

// misspeltFix returns the edit that corrects a misspelled reference, if only one name can be meant.
func misspeltFix(at tool.Text, p expr.Problem, ref string, n expr.Names) []tool.Edit {
	root := rootOf(ref)
	if meant := n.(expr.Speller).Misspelt(root); len(meant) == 1 {
		return at.Rename(p.Off+strings.Index(ref, root), root, meant[0])
	}
	return nil
}

// explainUnavailable reports whether an unknown reference names something that exists but is not available here, and
// then changes the message of d accordingly.
func explainUnavailable(d *tool.Diagnostic, ref string, n expr.Names) bool {
	known, ok := n.(interface {
		outOfReach(id string) (message, hint string)
	})
	if !ok || d.Code != expr.CodeUnknown && d.Code != expr.CodeUndeclared {
		return false
	}
	if n.Symbol(rootOf(ref)).Class != expr.Unknown {
		return false // the name is available, but not in this form
	}
	message, hint := known.outOfReach(rootOf(ref))
	if message != "" {
		if d.Severity == tool.Warning {
			hint += "; if the braces are text, add " + rootOf(ref) + " to x-allow"
		}
		d.Message, d.Hint = message, hint
	}
	return message != ""
}

// rootOf returns the first name of a reference.
func rootOf(ref string) string {
	root := strings.TrimPrefix(strings.Trim(ref, "{}'\""), "RAW:")
	if i := strings.IndexAny(root, ".[:"); i > 0 {
		root = root[:i]
	}
	return root
}

// nearest returns the known names most similar to the root of an unknown reference, best first.
func nearest(ref, code string, n expr.Names) []string {
	known, ok := n.(interface{ ids() []string })
	if !ok || code != expr.CodeUnknown && code != expr.CodeUndeclared || n.Symbol(rootOf(ref)).Class != expr.Unknown {
		return nil
	}
	return tool.Near(rootOf(ref), known.ids())
}

// nearestCall returns the function most similar to an unknown name that is followed by a parenthesis.
func nearestCall(name, rest string) string {
	if !strings.HasPrefix(strings.TrimSpace(rest), "(") {
		return ""
	}
	if near := tool.Near(name, expr.Functions()); len(near) > 0 {
		return near[0]
	}
	return ""
}

// template parses a text. It returns nil for nil, and for a text with errors.
func (c *compiler) template(at *tool.Text, path string, sh expr.Shell, n expr.Names) *expr.Template {
	if at == nil {
		return nil
	}
	t, ps := parse(at.S, sh, n)
	if c.reportProblems(*at, path, ps, n) {
		return nil
	}
	c.lintItem(*at, path, n)
	c.warnMisspeltSecret(*at, path, t, n)
	return t
}

// parse parses a text in the reference syntax of its file format.
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
	if c.reportProblems(*at, path, ps, n) {
		return nil
	}
	return cond
}
