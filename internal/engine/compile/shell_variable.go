package compile

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/shellsign"
)

// variablesInEnvironment warns about variables in a value of environment that are written as for a shell.
func variablesInEnvironment(at tool.Text, path string, n names) (ds tool.Diagnostics) {
	for _, v := range shellsign.Variables(at.S) {
		if v.Braces || len(v.Name) > 1 && v.Name == strings.ToUpper(v.Name) {
			ds = append(ds, shellVariable(at, path, n, v, "no shell reads the values of environment"))
		}
	}
	return ds
}

// parametersAsVariables warns about parameters that are written as variables of a shell, in a text that no shell
// changes.
func parametersAsVariables(at tool.Text, path string, n names, list []shellsign.Variable, why string) (ds tool.Diagnostics) {
	for _, v := range list {
		if n.hasParameter(v.Name) {
			ds = append(ds, shellVariable(at, path, n, v, why))
		}
	}
	return ds
}

func shellVariable(at tool.Text, path string, n names, v shellsign.Variable, why string) tool.Diagnostic {
	written := at.S[v.Off : v.Off+v.Len]
	instead := "{env." + v.Name + "}"
	if n.hasParameter(v.Name) {
		instead = "{" + v.Name + "}"
	}
	return tool.Diagnostic{Code: "shell-variable", Severity: tool.Warning, Pos: at.At(v.Off), Len: len([]rune(written)), Path: path,
		Message: fmt.Sprintf("%s is text here, because %s", written, why), Hint: "write " + instead}
}
