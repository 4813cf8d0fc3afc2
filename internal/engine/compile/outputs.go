package compile

import (
	"github.com/flowrun/flowrun/internal/engine/compile/texts"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/stepfile"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// declarations returns what a command or a script must write.
func declarations(list []*tool.DeclaredOutput) []stepfile.Declaration {
	var all []stepfile.Declaration
	for _, o := range list {
		all = append(all, stepfile.Declaration{Name: o.Name, Type: o.Type, Optional: o.Optional})
	}
	return all
}

// outputs compiles the values of the outputs of a tool or of a group of steps.
func outputs(c *texts.Parser, list []*tool.DeclaredOutput, path string, n texts.Scope) (all []plan.Output) {
	for i, d := range declarations(list) {
		if t := c.Template(list[i].Value, path+"."+d.Name, expr.Plain, n); t != nil {
			all = append(all, plan.Output{Declaration: d, Value: t})
		}
	}
	return all
}
