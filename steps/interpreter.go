package steps

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/flowrun/flowrun/expr"
)

// findProgram is the first of the names that is found along the step's PATH, and a
// reason with the way out where none is.
func (t *attempt) findProgram(way string, names ...string) (string, error) {
	if t.confine.Image != "" { // what it holds cannot be seen from here
		return names[0], nil
	}
	path := lookup(t.env, "PATH")
	for _, name := range names {
		_, err := t.session.programs.find(name, path)
		var start startError
		if err == nil || errors.As(err, &start) && start.code == 126 {
			return name, nil // one that may not be executed is reported by the start
		}
	}
	return "", startError{127, fmt.Sprintf("cannot start the step: no %s found in PATH %q; %s", strings.Join(names, " or "), path, way)}
}

// python starts a script for Python. The script holds its values.
func (t *attempt) python(script expr.Script) (launch, error) {
	names := []string{t.Shell}
	if t.Shell == "python" {
		names = []string{"python3", "python"}
		if runtime.GOOS == "windows" { // where python3 may be a stub that opens a shop
			names = []string{"python", "python3"}
		}
	}
	program, err := t.findProgram("install Python 3, or name the program by shell:", names...)
	if err != nil {
		return launch{}, err
	}
	path, err := t.session.secretFile("script-*.py", script.Text)
	return launch{argv: []string{program, path}, files: []string{path}}, err
}

// powerShell starts a script for PowerShell. A byte order mark keeps
// Windows PowerShell from reading it in the system's code page.
func (t *attempt) powerShell(script expr.Script) (l launch, err error) {
	names := []string{t.Shell}
	switch {
	case t.Shell == "powershell":
		names = []string{"powershell", "pwsh"}
	case t.Shell == "pwsh" && runtime.GOOS == "windows":
		names = []string{"pwsh", "powershell"}
	}
	program, err := t.findProgram("install PowerShell (https://aka.ms/powershell), or use bash", names...)
	if err != nil {
		return l, err
	}
	for _, v := range script.Vars {
		value := v.Value
		if v.File {
			if value, err = t.session.secretFile("value-*", byteOrderMark+v.Value); err != nil {
				return l, err
			}
			l.files = append(l.files, value)
		}
		l.env = append(l.env, v.Name+"="+value)
	}
	path, err := t.session.secretFile("script-*.ps1", byteOrderMark+powerShellText(script.Text, t.Strict))
	if err != nil {
		return l, err
	}
	l.files = append(l.files, path)
	l.argv = append([]string{program}, powerShellOptions(runtime.GOOS)...)
	l.argv = append(l.argv, "-File", path)
	return l, nil
}

const byteOrderMark = "\ufeff"

func powerShellOptions(system string) []string {
	options := []string{"-NoProfile", "-NonInteractive"}
	if system == "windows" { // by default it runs no script files at all
		options = append(options, "-ExecutionPolicy", "Bypass")
	}
	return options
}

// The exit code of a script file is 0, whatever a program in it returned.
const (
	powerShellEnd    = "\nif (Test-Path -LiteralPath variable:LASTEXITCODE) { exit $LASTEXITCODE }\n"
	powerShellStrict = "$ErrorActionPreference = 'Stop'; $PSNativeCommandUseErrorActionPreference = $true; "
)

// powerShellText is the script with what goes around it. strict goes behind the
// lines that must come first, and adds none, so that line numbers stay the author's.
func powerShellText(text string, strict bool) string {
	text += powerShellEnd
	if !strict {
		return text
	}
	at := 0
	for {
		line, _, more := strings.Cut(text[at:], "\n")
		word := strings.ToLower(strings.TrimSpace(line))
		if !more || word != "" && !strings.HasPrefix(word, "using ") && !(strings.HasPrefix(word, "#") && !strings.HasPrefix(word, "#>")) {
			return text[:at] + powerShellStrict + text[at:]
		}
		at += len(line) + 1
	}
}

// errCmd: there is no cmd elsewhere, and no other shell reads its language.
var errCmd = startError{127, "cannot start the step: cmd steps run on Windows only; use commands with platforms, " +
	"a run-condition such as \"{OS} == 'windows'\", or platforms: [windows] on the tool"}

// cmd starts a batch script. Its path travels in a variable, so that no
// character in it means anything on cmd's own command line.
func (t *attempt) cmd(script expr.Script) (l launch, err error) {
	if runtime.GOOS != "windows" {
		return l, errCmd
	}
	path, err := t.session.secretFile("script-*.cmd", cmdText(script))
	if err != nil {
		return l, err
	}
	l = cmdLaunch(t.Shell, path, script)
	return l, nil
}

func cmdLaunch(shell, path string, script expr.Script) launch {
	l := launch{argv: []string{shell, "/d", "/q", "/c", "%__FLOWRUN_SCRIPT%"}, files: []string{path}}
	l.env = append(l.env, `__FLOWRUN_SCRIPT="`+path+`"`)
	for _, v := range script.Vars {
		l.env = append(l.env, v.Name+"="+v.Value)
	}
	return l
}

// cmdText is the script as cmd reads it from a file: lines end in CRLF, without
// which labels are missed, and text beyond ASCII needs the code page of UTF-8.
func cmdText(script expr.Script) string {
	text := script.Text + "\n"
	nonASCII := hasNonASCII(text)
	for _, v := range script.Vars {
		nonASCII = nonASCII || hasNonASCII(v.Value)
	}
	if nonASCII {
		text = "@chcp 65001 >nul\n" + text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

func hasNonASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 0x7f }) >= 0
}
