package steps

import (
	"errors"
	"runtime"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// interpreter makes the command lines of scripts.
type interpreter struct {
	shell  string // its name
	strict bool
	file   func(pattern, text string) (path string, err error) // writes a private file
	find   func(name string) error // why there is no such program
}

// findProgram returns the first of the names that exists along the PATH of the step. If none does,
// the error says what to do; way is that advice.
func (i *interpreter) findProgram(way string, names ...string) (string, error) {
	for _, name := range names {
		err := i.find(name)
		var start place.StartError
		if err == nil || errors.As(err, &start) && start.Code == 126 {
			return name, nil // starting it reports that it is not executable
		}
	}
	return "", place.CannotStart(127, "cannot start the step: %s not found in PATH; %s", strings.Join(names, " or "), way)
}

// python returns how to start a Python script. The script itself contains the values.
func (i *interpreter) python(script expr.Script) (launch, error) {
	names := []string{i.shell}
	if i.shell == "python" {
		names = []string{"python3", "python"}
		if runtime.GOOS == "windows" { // there python3 may only open the Microsoft Store
			names = []string{"python", "python3"}
		}
	}
	program, err := i.findProgram("install Python 3, or set shell to the name of the program", names...)
	if err != nil {
		return launch{}, err
	}
	path, err := i.file("script-*.py", script.Text)
	return launch{argv: []string{program, path}, files: []string{path}}, err
}

// powerShell returns how to start a PowerShell script. The byte order mark makes Windows PowerShell
// read it as UTF-8 and not in the code page of the system.
func (i *interpreter) powerShell(script expr.Script) (l launch, err error) {
	names := []string{i.shell}
	switch {
	case i.shell == "powershell":
		names = []string{"powershell", "pwsh"}
	case i.shell == "pwsh" && runtime.GOOS == "windows":
		names = []string{"pwsh", "powershell"}
	}
	program, err := i.findProgram("install PowerShell (https://aka.ms/powershell), or use bash", names...)
	if err != nil {
		return l, err
	}
	for _, v := range script.Vars {
		value := v.Value
		if v.File {
			if value, err = i.file("value-*", byteOrderMark+v.Value); err != nil {
				return l, err
			}
			l.files = append(l.files, value)
		}
		l.env = append(l.env, v.Name+"="+value)
	}
	path, err := i.file("script-*.ps1", byteOrderMark+powerShellText(script.Text, i.strict))
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

// cmd returns how to start a batch script. Its path is passed in a variable, so that no character
// of it has a meaning on the command line of cmd.
func (i *interpreter) cmd(script expr.Script) (l launch, err error) {
	if runtime.GOOS != "windows" {
		return l, errCmd
	}
	path, err := i.file("script-*.cmd", cmdText(script))
	if err != nil {
		return l, err
	}
	l = cmdLaunch(i.shell, path, script)
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
