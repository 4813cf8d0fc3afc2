package commandline

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

func TestPowerShellText(t *testing.T) {
	const strict = powerShellStrict
	for _, c := range []struct{ text, want string }{
		{"a", strict + "a"},
		{"# c\n\na\nb", "# c\n\n" + strict + "a\nb"},
		{"USING namespace X\na", "USING namespace X\n" + strict + "a"},
	} {
		if got := powerShellText(c.text, true); got != c.want+powerShellEnd {
			t.Errorf("%q became %q", c.text, got)
		}
		if got := powerShellText(c.text, false); got != c.text+powerShellEnd {
			t.Errorf("not strict: %q became %q", c.text, got)
		}
	}
	if got := powerShellOptions("windows"); !slices.Contains(got, "Bypass") {
		t.Errorf("on Windows: %q", got)
	}
}

func TestCmdFile(t *testing.T) {
	if got := cmdText(expr.Script{Text: "a\nb\r\nc"}); got != "a\r\nb\r\nc\r\n" {
		t.Errorf("%q", got)
	}
	for _, s := range []expr.Script{{Text: "é"}, {Text: "a", Vars: []expr.Var{{Name: "V", Value: "é"}}}} {
		if got := cmdText(s); !strings.HasPrefix(got, "@chcp 65001 >nul\r\n") {
			t.Errorf("%q", got)
		}
	}
	l := cmdLaunch("cmd", `C:\a & b\%x%\script.cmd`, expr.Script{Vars: []expr.Var{{Name: "V", Value: "&"}}})
	if !slices.Equal(l.Argv, []string{"cmd", "/d", "/q", "/c", "%__FLOWRUN_SCRIPT%"}) || !slices.Equal(l.Env, []string{`__FLOWRUN_SCRIPT="C:\a & b\%x%\script.cmd"`, "V=&"}) {
		t.Errorf("%q %q", l.Argv, l.Env)
	}
}
