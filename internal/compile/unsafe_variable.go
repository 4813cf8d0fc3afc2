package compile

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/codeenv"
	"github.com/flowrun/flowrun/tool"
)

// safeVariable reports the first reference by which others than the definition's author
// would decide the text of a variable that makes programs run code: the text would be
// code, however well the command is quoted. t is nil where there is no such text.
func (c *compiler) safeVariable(def *tool.Definition, n names, name string, at tool.Text, path string, t *expr.Template) bool {
	if t == nil || !codeenv.RunsCode(name) {
		return true
	}
	for _, r := range t.Sources() {
		if !n.foreign(def, r) {
			continue
		}
		c.report(tool.Diagnostic{Code: "unsafe-variable", Severity: tool.Error, Pos: at.At(r.Off), Len: r.Len, Path: path,
			Message: fmt.Sprintf("%s cannot be used in the environment variable %s, because it makes programs run code", r, name),
			Hint:    "write a fixed text, choose between fixed texts ({X ? 'a' : 'b'}), or list the values of the parameter in validation.enum"})
		return false
	}
	return true
}

// foreign says whether others than the definition's author and the machine decide what a
// reference stands for. Of a parameter whose values the definition lists, and of a loop
// whose items it does, the author decides.
func (n names) foreign(def *tool.Definition, r expr.Ref) bool {
	switch r.Class {
	case expr.Variable, expr.Env:
		return false
	case expr.Parameter:
		return !slices.ContainsFunc(def.Parameters, func(p *tool.Parameter) bool {
			return p.Name == r.Root && (p.Type == "number" || p.Type == "integer" || p.Type == "boolean" || len(p.Validation.Enum) > 0)
		})
	case expr.Local:
		for at := &n; at != nil; at = at.around {
			if at.locals[r.Root] {
				return !at.fixed && r.Root != "index"
			}
		}
	}
	return true
}
