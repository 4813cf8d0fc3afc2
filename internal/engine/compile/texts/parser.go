// Package texts makes templates, conditions and values of the texts of a definition. Names say what the references in a
// text can mean where it is written; a Parser parses it with them, and collects what is wrong, with the similar name that
// may be meant. Package compile decides which text is what.
package texts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/compile/check"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Parser parses the texts of definitions and collects the problems of a compilation. Names resolve the references in a
// text; a text with errors becomes nil.
type Parser struct {
	Problems tool.Diagnostics

	hinted map[tool.Severity]int // how often MayHint was asked
}

func (c *Parser) Report(ds ...tool.Diagnostic) { c.Problems = append(c.Problems, ds...) }

// Accepts reports problems, and whether there are none.
func (c *Parser) Accepts(ds tool.Diagnostics) bool {
	c.Report(ds...)
	return len(ds) == 0
}

func (c *Parser) Errorf(code string, at tool.Text, hint, format string, args ...any) {
	c.Report(check.Errorf(code, at, hint, format, args...))
}

// ReportProblems reports the problems that package expr found in a text, with their positions in the file and a similar
// name as a suggestion. It reports whether one of them is an error.
func (c *Parser) ReportProblems(at tool.Text, path string, ps []expr.Problem, n Scope) bool {
	bad := false
	for _, p := range ps {
		if isRenamedItem(at.S, p, n) {
			continue // checkItem reports it
		}
		d := tool.Diagnostic{Code: p.Code, Severity: tool.Error, Pos: at.At(p.Off), Len: p.Len, Path: path, Message: p.Message, Hint: p.Hint}
		if p.Warning {
			d.Severity = tool.Warning
		}
		end := min(p.Off+p.Len, len(at.S))
		ref := at.S[p.Off:end]
		root := RootOf(ref)
		if p.Code == expr.CodeMisspelt {
			d.Fix = misspeltFix(at, p, ref, n)
		} else if name := strings.Trim(ref, "{}"); p.Code == expr.CodeUndeclared && slices.Contains(n.secrets(), name) {
			d.Hint = fmt.Sprintf("write $%s in a script, or {env.%[1]s}", name)
		} else if near := nearestCall(ref, at.S[end:]); near != "" {
			d.Hint = fmt.Sprintf("did you mean %s()?", near)
		} else if isUnknown(p.Code, root, n) && !explainUnavailable(&d, ref, n) && c.MayHint(d.Severity) {
			near := n.near(root)
			if len(near) > 0 {
				d.Hint = fmt.Sprintf("did you mean %q?", near[0])
			}
			if len(near) == 1 && d.Severity == tool.Error { // after a warning, the text is used unchanged
				d.Fix = at.Rename(p.Off+strings.Index(ref, root), root, near[0])
			}
		}
		bad = bad || d.Severity == tool.Error
		c.Report(d)
	}
	return bad
}

// MayHint reports whether the next problem of a severity gets a hint that names something similar. Those that are more than
// are reported of a file get none, because each search compares many names.
func (c *Parser) MayHint(s tool.Severity) bool {
	if c.hinted == nil {
		c.hinted = map[tool.Severity]int{}
	}
	c.hinted[s]++
	return c.hinted[s] <= diagnostic.MaxDiagnostics
}

// misspeltFix returns the edit that corrects a misspelled reference, if only one name can be meant.
func misspeltFix(at tool.Text, p expr.Problem, ref string, n Scope) []tool.Edit {
	root := RootOf(ref)
	if meant := n.Misspelt(root); len(meant) == 1 {
		return at.Rename(p.Off+strings.Index(ref, root), root, meant[0])
	}
	return nil
}

// isUnknown reports whether a problem is that the root of a reference is not available. If it is, the reference has the
// wrong form.
func isUnknown(code, root string, n Scope) bool {
	return (code == expr.CodeUnknown || code == expr.CodeUndeclared) && n.Symbol(root).Class == expr.Unknown
}

// explainUnavailable reports whether an unknown reference names something that exists but is not available here, and
// then changes d accordingly.
func explainUnavailable(d *tool.Diagnostic, ref string, n Scope) bool {
	message, hint := n.OutOfReach(RootOf(ref))
	if message == "" {
		return false
	}
	if d.Severity == tool.Warning {
		hint += "; if the braces are text, add " + RootOf(ref) + " to x-allow"
	}
	d.Message, d.Hint = message, hint
	if strings.ContainsAny(ref, ".[") {
		d.Severity = tool.Error // the name exists elsewhere, so this is not just text that looks like a reference
	}
	return true
}

// RootOf returns the first name of a reference.
func RootOf(ref string) string {
	root := strings.TrimPrefix(strings.Trim(ref, "{}'\""), "RAW:")
	if i := strings.IndexAny(root, ".[:"); i > 0 {
		root = root[:i]
	}
	return root
}

// DidYouMean returns a hint with the known name most similar to a word, or otherwise if no name is similar.
func DidYouMean(word string, known []string, otherwise string) string {
	if near := diagnostic.Near(word, known); len(near) > 0 {
		return fmt.Sprintf("did you mean %q?", near[0])
	}
	return otherwise
}

// nearestCall returns the function most similar to an unknown name that is followed by a parenthesis.
func nearestCall(name, rest string) string {
	if !strings.HasPrefix(strings.TrimSpace(rest), "(") {
		return ""
	}
	if near := diagnostic.Near(name, expr.Functions()); len(near) > 0 {
		return near[0]
	}
	return ""
}

// Template parses a text. It returns nil for nil, and for a text with errors.
func (c *Parser) Template(at *tool.Text, path string, sh expr.Shell, n Scope) *expr.Template {
	if at == nil {
		return nil
	}
	if strings.ContainsRune(at.S, 0) {
		c.Errorf("control-character", *at, "remove it", "the text contains a NUL byte, which cannot be passed to a command")
		return nil
	}
	t, ps := parse(at.S, sh, n)
	if c.ReportProblems(*at, path, ps, n) {
		return nil
	}
	c.Report(checkItem(*at, path, n)...)
	c.Report(checkSecretNames(*at, path, t, n)...)
	return t
}

// parse parses a text in the reference syntax of its file format.
func parse(text string, sh expr.Shell, n Scope) (*expr.Template, []expr.Problem) {
	if page, ok := n.(markdownNames); ok {
		return expr.ParseMarkdown(text, page)
	}
	return expr.ParseTemplate(text, sh, n)
}

func (c *Parser) Condition(at *tool.Text, path string, n Scope) *expr.Condition {
	if at == nil {
		return nil
	}
	cond, ps := expr.ParseCondition(at.S, n)
	if c.ReportProblems(*at, path, ps, n) {
		return nil
	}
	return cond
}

// Value compiles a value. It calls note for each text with its references.
func (c *Parser) Value(v tool.Value, path string, n Scope, note func(tool.Text, []expr.Ref)) plan.ValueTemplate {
	t := plan.ValueTemplate{IsList: v.List != nil, IsMap: v.Map != nil}
	switch {
	case v.Text != nil:
		if t.Text = c.Template(v.Text, path, expr.Plain, n); t.Text != nil {
			note(*v.Text, t.Text.Refs())
		}
		t.Broken = t.Text == nil
	case t.IsList:
		for i, e := range v.List {
			t.Add(c.Value(e, fmt.Sprintf("%s[%d]", path, i), n, note))
		}
	case t.IsMap:
		for _, e := range v.Map {
			t.Keys = append(t.Keys, e.Key)
			t.Add(c.Value(e.Value, path+"."+e.Key, n, note))
		}
	default:
		t.Scalar = v.Data()
		if _, is := t.Scalar.(bool); is {
			t.Spelling = v.Spelling()
		}
	}
	return t
}
