package commandline

import (
	"errors"
	"runtime"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// Interpreter makes the command lines of scripts.
type Interpreter struct {
	Shell  string // its name
	Strict bool
	File   func(pattern, text string) (path string, err error) // writes a private file
	Find   func(name string) error                             // why there is no such program
}

// findProgram returns the first of the names that exists along the PATH of the step. If none does,
// the error says what to do; way is that advice.
func (i *Interpreter) findProgram(way string, names ...string) (string, error) {
	for _, name := range names {
		err := i.Find(name)
		var start place.StartError
		if err == nil || errors.As(err, &start) && start.Code == 126 {
			return name, nil // starting it reports that it is not executable
		}
	}
	return "", place.CannotStart(127, "cannot start the step: %s not found in PATH; %s", strings.Join(names, " or "), way)
}

// Python returns how to start a Python script. The script itself contains the values.
func (i *Interpreter) Python(script expr.Script) (Launch, error) {
	names := []string{i.Shell}
	if i.Shell == "python" {
		names = []string{"python3", "python"}
		if runtime.GOOS == "windows" { // there python3 may only open the Microsoft Store
			names = []string{"python", "python3"}
		}
	}
	program, err := i.findProgram("install Python 3, or set shell to the name of the program", names...)
	if err != nil {
		return Launch{}, err
	}
	path, err := i.File("script-*.py", script.Text)
	return Launch{Argv: []string{program, path}, Files: []string{path}}, err
}

// PowerShell returns how to start a PowerShell script. The byte order mark makes Windows PowerShell
// read it as UTF-8 and not in the code page of the system.
func (i *Interpreter) PowerShell(script expr.Script) (l Launch, err error) {
	names := []string{i.Shell}
	switch {
	case i.Shell == "powershell":
		names = []string{"powershell", "pwsh"}
	case i.Shell == "pwsh" && runtime.GOOS == "windows":
		names = []string{"pwsh", "powershell"}
	}
	program, err := i.findProgram("install PowerShell (https://aka.ms/powershell), or use bash", names...)
	if err != nil {
		return l, err
	}
	for _, v := range script.Vars {
		value := v.Value
		if v.File {
			if value, err = i.File("value-*", byteOrderMark+v.Value); err != nil {
				return l, err
			}
			l.Files = append(l.Files, value)
		}
		l.Env = append(l.Env, v.Name+"="+value)
	}
	path, err := i.File("script-*.ps1", byteOrderMark+powerShellText(script.Text, i.Strict))
	if err != nil {
		return l, err
	}
	l.Files = append(l.Files, path)
	l.Argv = append([]string{program}, powerShellOptions(runtime.GOOS)...)
	l.Argv = append(l.Argv, "-File", path)
	return l, nil
}

const byteOrderMark = "\ufeff"

func powerShellOptions(system string) []string {
	options := []string{"-NoProfile", "-NonInteractive"}
	if system == "windows" { // its default policy allows no script files
		options = append(options, "-ExecutionPolicy", "Bypass")
	}
	return options
}

// powerShellEnd passes on the exit code of the last program: without it a script file always exits
// with 0.
const (
	powerShellEnd    = "\nif (Test-Path -LiteralPath variable:LASTEXITCODE) { exit $LASTEXITCODE }\n"
	powerShellStrict = "$ErrorActionPreference = 'Stop'; $PSNativeCommandUseErrorActionPreference = $true; "
)

// powerShellText returns the script with powerShellEnd, and for strict with powerShellStrict. That
// goes after the lines that must come first (comments and using), and adds no line, so line numbers
// stay those of the author.
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

// errCmd: cmd exists only on Windows, and no other shell understands its language.
var errCmd = place.CannotStart(127, "cannot start the step: cmd steps run on Windows only; use commands with platforms, "+
	"a run-condition such as \"{OS} == 'windows'\", or platforms: [windows] on the tool")

// Cmd returns how to start a batch script. Its path is passed in a variable, so that no character
// of it has a meaning on the command line of cmd.
func (i *Interpreter) Cmd(script expr.Script) (l Launch, err error) {
	if runtime.GOOS != "windows" {
		return l, errCmd
	}
	path, err := i.File("script-*.cmd", cmdText(script))
	if err != nil {
		return l, err
	}
	l = cmdLaunch(i.Shell, path, script)
	return l, nil
}

func cmdLaunch(shell, path string, script expr.Script) Launch {
	l := Launch{Argv: []string{shell, "/d", "/q", "/c", "%__FLOWRUN_SCRIPT%"}, Files: []string{path}}
	l.Env = append(l.Env, `__FLOWRUN_SCRIPT="`+path+`"`)
	for _, v := range script.Vars {
		l.Env = append(l.Env, v.Name+"="+v.Value)
	}
	return l
}

// cmdText returns the script as cmd must read it from a file. Lines end in CRLF, because otherwise
// cmd does not find labels. Text beyond ASCII needs the UTF-8 code page.
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
