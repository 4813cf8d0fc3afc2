package compile

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/shellsign"
)

// checkShellSign warns about the first part of a run: command that only a shell understands.
func checkShellSign(at tool.Text, path string) tool.Diagnostics {
	s, ok := shellsign.First(at.S)
	if !ok {
		return nil
	}
	sign := at.S[s.Off : s.Off+s.Len]
	d := tool.Diagnostic{Code: "shell-in-run", Severity: tool.Warning, Pos: at.At(s.Off), Len: len([]rune(sign)), Path: path,
		Message: fmt.Sprintf("run does not use a shell, so the program gets %s as text", sign),
		Hint:    "write bash: instead of run:, or put it in single quotes if the program needs it as text"}
	if strings.HasPrefix(sign, "~") {
		d.Hint = "write {HOME} instead of ~, or bash: instead of run:"
	}
	if s.Assigns {
		d.Message = fmt.Sprintf("run does not use a shell, so %s is taken for the program", sign)
		d.Hint = "set the variable in environment:, or write bash: instead of run:"
	}
	return tool.Diagnostics{d}
}
