package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// percentRead warns of a variable with a value in it that a cmd script reads as
// %NAME%: cmd takes what that puts into the line as code.
func (c *stepCompiler) percentRead(at *tool.Text, key string, cmd *steps.Command) {
	lower := strings.ToLower(at.S)
	for _, v := range slices.Concat(c.plan.Environ, cmd.Env) {
		name := "%" + strings.ToLower(v.Name)
		off := max(strings.Index(lower, name+"%"), strings.Index(lower, name+":"))
		if off < 0 || v.Value.Static() {
			continue
		}
		c.report(tool.Diagnostic{Code: expr.CodeUsedAsCode, Severity: tool.Warning, Pos: at.At(off), Len: len(name) + 1, Path: c.key(key),
			Message: fmt.Sprintf("cmd reads what %%%s%% puts into the line as code", v.Name),
			Hint:    fmt.Sprintf("setlocal EnableDelayedExpansion, and read it as !%s!", v.Name)})
	}
}
