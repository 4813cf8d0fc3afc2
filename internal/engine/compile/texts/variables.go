package texts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/codeenv"
	"github.com/flowrun/flowrun/internal/os/shellsign"
)

// VariablesInEnvironment warns about variables in a value of environment that are written as for a shell.
func VariablesInEnvironment(at tool.Text, path string, n Names) (ds tool.Diagnostics) {
	for _, v := range shellsign.Variables(at.S) {
		if v.Braces || len(v.Name) > 1 && v.Name == strings.ToUpper(v.Name) {
			ds = append(ds, shellVariable(at, path, n, v, "no shell reads the values of environment"))
		}
	}
	return ds
}

// ParametersAsVariables warns about parameters that are written as variables of a shell, in a text that no shell
// changes.
func ParametersAsVariables(at tool.Text, path string, n Names, list []shellsign.Variable, why string) (ds tool.Diagnostics) {
	for _, v := range list {
		if n.HasParameter(v.Name) {
			ds = append(ds, shellVariable(at, path, n, v, why))
		}
	}
	return ds
}

func shellVariable(at tool.Text, path string, n Names, v shellsign.Variable, why string) tool.Diagnostic {
	written := at.S[v.Off : v.Off+v.Len]
	instead := "{env." + v.Name + "}"
	if n.HasParameter(v.Name) {
		instead = "{" + v.Name + "}"
	}
	return tool.Diagnostic{Code: "shell-variable", Severity: tool.Warning, Pos: at.At(v.Off), Len: len([]rune(written)), Path: path,
		Message: fmt.Sprintf("%s is text here, because %s", written, why), Hint: "write " + instead}
}

// CheckVariable checks a variable that makes programs run code. It returns the first reference by which somebody other
// than the definition's author could decide its text: that text would run as code, however well the command is quoted.
// It returns nil if the variable is safe, or the definition has the permission to set it. t may be nil.
func CheckVariable(n Names, name string, at tool.Text, path string, t *expr.Template) tool.Diagnostics {
	if t == nil || !codeenv.RunsCode(name) || slices.Contains(n.Granted(), name) {
		return nil
	}
	for _, r := range t.Sources() {
		if !n.CallerDecides(r) {
			continue
		}
		return tool.Diagnostics{{Code: "unsafe-variable", Severity: tool.Error, Pos: at.At(r.Off), Len: r.Len, Path: path,
			Message: fmt.Sprintf("%s cannot be used in the environment variable %s, because it makes programs run code", r, name),
			Hint: "write a fixed text, choose between fixed texts ({X ? 'a' : 'b'}), list the values of the parameter in validation.enum, or add " +
				permission.EnvironmentPrefix + name + " to security.required-permissions"}}
	}
	return nil
}

// Granted returns the variables that the definition names as permissions. A name with a placeholder does not
// count, because a caller could choose it.
func (n Names) Granted() (list []string) {
	for _, p := range n.def.Security.RequiredPermissions {
		if name, ok := strings.CutPrefix(p.S, permission.EnvironmentPrefix); ok {
			list = append(list, name)
		}
	}
	return list
}

// CallerDecides reports whether somebody other than the definition's author and the machine decides the value of a
// reference. The author decides if the definition lists the values of a parameter or the items of a loop.
func (n Names) CallerDecides(r expr.Ref) bool {
	switch r.Class {
	case expr.Variable, expr.Env:
		return false
	case expr.Parameter:
		return !slices.ContainsFunc(n.def.Parameters, func(p *tool.Parameter) bool {
			return p.Name == r.Root && (p.Type == "number" || p.Type == "integer" || p.Type == "boolean" || len(p.Validation.Enum) > 0)
		})
	case expr.Local:
		for at := &n; at != nil; at = at.outer {
			if at.locals[r.Root] {
				return !at.fixedItems && r.Root != "index"
			}
		}
	}
	return true
}
