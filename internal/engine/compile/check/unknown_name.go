package check

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// UnknownTool returns the error for a name with which a lookup failed. A suggestion is only in the hint.
func UnknownTool(name tool.Text, err error) tool.Diagnostic {
	hint := "flowrun searches the folder of the file, then the tool folders of the project, the user and the machine; see flowrun docs tools"
	missing, ok := err.(*library.NotFoundError)
	if !ok {
		return Errorf("unknown-tool", name, hint, "cannot use tool %q: %v", name.S, err)
	}
	if len(missing.Near) > 0 {
		hint = fmt.Sprintf("did you mean %q?", missing.Near[0])
	}
	plain := *missing
	plain.Near = nil
	return Errorf("unknown-tool", name, hint, "%s", plain.Error())
}

// usedTool returns the subject of a message about a tool that a step uses. For a built-in tool, which the author may
// not have meant, replace continues the hint.
func usedTool(def *tool.Definition) (subject, replace string) {
	if def.Scope != tool.ScopeBuiltin {
		return "tool " + def.Name, ""
	}
	return "the built-in tool " + def.Name, fmt.Sprintf(" (a tool named %s in the project takes the place of the built-in one)", def.Name)
}

// UnknownParameter returns the problem of a value, in the definition user, for a parameter that the used tool does not have.
// fix adds the edit that corrects the name. It indexes the file again, so limit how often.
func UnknownParameter(user *tool.Definition, e *tool.Entry, used *tool.Definition, known []string, s tool.Severity, fix bool) tool.Diagnostic {
	subject, replace := usedTool(used)
	d := tool.Diagnostic{Code: "unknown-parameter", Severity: s, Pos: e.Pos, Len: len([]rune(e.Key)),
		Message: fmt.Sprintf("%s has no parameter %q", subject, e.Key), Hint: fmt.Sprintf("%s has no parameters", subject)}
	if len(known) > 0 {
		d.Hint = "known parameters: " + strings.Join(known, ", ") + replace
	}
	near := diagnostic.Near(e.Key, known)
	if len(near) > 0 {
		d.Hint = fmt.Sprintf("did you mean %q?", near[0])
	}
	if len(near) == 1 && fix {
		d.Fix = user.Rename(e.Pos, e.Key, near[0])
	}
	return d
}
