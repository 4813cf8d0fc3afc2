package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Reference is a reference in a text.
type Reference struct {
	At  tool.Text
	Ref expr.Ref
}

// Artifacts checks that the steps have the artifacts that texts refer to. The tools that the steps use must be compiled.
func Artifacts(p *plan.Plan, list []Reference) (ds tool.Diagnostics) {
	for _, m := range list {
		s := stepNamed(p, m.Ref.Root)
		if s == nil || s.UsesTool && s.Nested == nil { // already reported
			continue
		}
		known, name := s.ArtifactNames(), m.Ref.Path[1].Field
		d := tool.Diagnostic{Code: "unknown-field", Severity: tool.Error, Pos: m.At.At(m.Ref.Off), Len: m.Ref.Len}
		switch count := len(slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k != name })); {
		case count == 1:
			continue
		case count > 1:
			d.Message, d.Hint = fmt.Sprintf("several steps in %s have an artifact %q", m.Ref.Root, name), "give the artifacts different names"
		case len(known) == 0:
			d.Message, d.Hint = fmt.Sprintf("step %q has no artifacts", m.Ref.Root), "add artifacts: to it"
		default:
			d.Message = fmt.Sprintf("step %q has no artifact %q", m.Ref.Root, name)
			if d.Hint = diagnostic.DidYouMean(name, known); d.Hint == "" {
				d.Hint = "its artifacts are " + strings.Join(known, ", ")
			}
		}
		ds = append(ds, d)
	}
	return ds
}

// stepNamed returns the step with that name, which may be in a group or among handlers.
func stepNamed(p *plan.Plan, name string) *plan.Step {
	for _, s := range p.Steps {
		if s.Def.Name == name {
			return s
		}
		if s.Nested != nil && !s.UsesTool {
			if in := stepNamed(s.Nested, name); in != nil {
				return in
			}
		}
	}
	return nil
}
