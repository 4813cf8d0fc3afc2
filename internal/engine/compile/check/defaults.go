package check

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// defaults reports defaults that the rules of their parameters reject, unless they contain references. Package tool
// has already reported those of the tool itself; the others are in an alias, or were made in Go.
func defaults(p *plan.Plan) (ds tool.Diagnostics) {
	for _, prm := range p.Params {
		if p.Definition.Schema != nil || prm.Initial == nil || prm.Initial.Broken || len(prm.Initial.Refs()) > 0 {
			continue
		}
		v, err := prm.Initial.Value(nil)
		if err != nil {
			continue // reported when it was compiled
		}
		if _, code, err := prm.Convert(v); err != nil && code != "transform" {
			ds = append(ds, tool.Diagnostic{Code: "default-refused", Severity: tool.Error, Pos: prm.Def.Default.Pos, Path: "parameters." + prm.Def.Name + ".default",
				Message: fmt.Sprintf("the default of %q is invalid: %v", prm.Def.Name, err), Hint: "change the value or the validation rule", Related: declaration(prm.Def)})
		}
	}
	return ds
}

// defaultSizes reports defaults that would become too large. A default can refer to others, which refer to further
// ones; their length is computed without creating them.
func defaultSizes(p *plan.Plan) tool.Diagnostics {
	size := map[string]int{}
	for _, prm := range p.Params { // a parameter comes after those that its default refers to
		if prm.Initial == nil {
			continue
		}
		n := prm.Initial.Size(func(r expr.Ref) int {
			if r.Class == expr.Parameter && len(r.Path) == 0 {
				return size[r.Root]
			}
			return 0
		})
		size[prm.Def.Name] = n
		if n > valuetext.MaxValue { // defaults that refer to this one would be too large as well
			return tool.Diagnostics{Errorf("value-size", tool.Text{Pos: prm.Def.Default.Pos}, "create the value in the step, or pass it in a file",
				"the default of %s would be larger than %d MiB", prm.Def.Name, valuetext.MaxValue>>20)}
		}
	}
	return nil
}

// Examples warns about examples of parameters that the commands would reject because they begin with a dash: a
// caller who copies them would be refused.
func Examples(p *plan.Plan) (ds tool.Diagnostics) {
	for _, prm := range p.Params {
		for i, example := range prm.Def.Examples {
			if example.Text == nil || !strings.HasPrefix(example.Text.S, "-") {
				continue
			}
			if problem := call.RefusedOption(p, prm, example.Text.S); problem != nil {
				ds = append(ds, tool.Diagnostic{Code: "examples-refused", Severity: tool.Warning, Pos: example.Pos, Len: 1, Path: fmt.Sprintf("parameters.%s.examples[%d]", prm.Def.Name, i),
					Message: fmt.Sprintf("the example for %s would be rejected: %s", prm.Def.Name, problem.Message), Hint: problem.Hint})
			}
		}
	}
	return ds
}
