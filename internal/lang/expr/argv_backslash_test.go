package expr

import "testing"

// TestBackslashesOfRun: a path of Windows is never silently another one.
func TestBackslashesOfRun(t *testing.T) {
	for _, c := range []struct{ command, word, here, onWindows string }{
		{`robocopy.exe C:\data 'D:\backup'`, `C:\data`, "error", "error"},
		{`C:\windows\cmd.exe /c`, `C:\windows\cmd.exe`, "error", "error"},
		{`x \\server\share`, `\\server\share`, "error", "error"},
		{`.\tool.exe`, `.\tool.exe`, "error", "error"},
		{`x ..\{P}`, `..\{P}`, "error", "error"},
		{`x C:\\data \\\\server\\share`, "", "", ""},
		{`x C:\`, "", "", ""}, // an error of its own
		{`x --out=C:\data`, `--out=C:\data`, "warning", "error"},
		{`x sub\file`, `sub\file`, "warning", "error"},
		{`x sub\_file`, `sub\_file`, "", "error"},
		{`grep \d+`, `\d+`, "warning", "error"},
		{`grep a\.b`, `a\.b`, "", "error"},
		{`x a\ b \" \' 'C:\a' "C:\a b" "C:\"`, "", "", ""},
		{"x a \\\n b", "", "", ""},
		{`x {P|replace:'\d',''}`, "", "", ""},
	} {
		for windows, want := range map[bool]string{false: c.here, true: c.onWindows} {
			pieces, _ := scan(c.command, Argv, noNames{})
			got, word := "", ""
			for _, p := range lintBackslashes(c.command, pieces, windows) {
				got, word = "error", c.command[p.Off:p.Off+p.Len]
				if p.Warning {
					got = "warning"
				}
			}
			if got != want || got != "" && word != c.word {
				t.Errorf("%s (windows %v): %q about %q, want %q about %q", c.command, windows, got, word, want, c.word)
			}
		}
	}
}
