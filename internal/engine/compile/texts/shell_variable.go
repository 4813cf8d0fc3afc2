package texts

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/tool"
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
