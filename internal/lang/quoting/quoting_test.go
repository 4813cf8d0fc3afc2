package quoting

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pieces finds the placeholders {NAME} of a script. The values of N and DEBUG are never text.
func pieces(script string) (list []Piece) {
	from := 0
	for _, m := range regexp.MustCompile(`\{\{|\{(RAW:)?(P|N|A|X|LIST|DEBUG)\}`).FindAllStringSubmatchIndex(script, -1) {
		if m[4] < 0 { // a brace of the language
			continue
		}
		name := script[m[4]:m[5]]
		list = append(list, Piece{Text: script[from:m[0]]}, Piece{Placeholder: &Placeholder{Written: script[m[0]:m[1]], Name: name,
			Raw: m[2] >= 0, MayHoldText: name != "N" && name != "DEBUG"}})
		from = m[1]
	}
	return append(list, Piece{Text: script[from:]})
}

// read reads a script. It returns the script as it has to be written, with the place of each placeholder.
func read(language, script string) (written string, problems []Problem) {
	list := pieces(script)
	switch language {
	case "cmd":
		list, problems = Cmd(script, list)
	case "powershell":
		list, problems = PowerShell(script, list)
	default:
		problems = Python(script, list)
	}
	for _, p := range list {
		written += p.Text
		if p.Placeholder != nil {
			written += "<" + placeText(p.Placeholder.Place) + ">"
		}
	}
	return written, problems
}

// placeText returns the form of a place, and its marks.
func placeText(p Place) string {
	text := [...]string{"unknown", "word", "single", "inner", "quoted", "number", "comment"}[p.Form]
	for _, mark := range []struct {
		set  bool
		name string
	}{
		{p.Argument, "argument"}, {p.Guard == GuardNumber, "calculated"}, {p.Requoted, "requoted"}, {p.BeforeQuote, "before-quote"},
		{p.SlashOptions, "slash"}, {p.Parenthesize, "parentheses"},
	} {
		if mark.set {
			text += " " + mark.name
		}
	}
	return text
}

// refused are scripts with a placeholder that cannot take a value, and what the problem says.
var refused = map[string][]struct{ script, says string }{
	"cmd": {
		{"echo {P} | more", "a pipe"},
		{"(\necho {P}\n) | more", "a pipe"},
		{"dir | findstr {P}", "a pipe"},
		{"echo {P} ^\n | more", "a pipe"},
		{"if \"{P}\"==\"a\" (\n echo (\n) | more", "a pipe"},
		{"call :sub {P}", "CALL"},
		{"@call x {P}", "CALL"},
		{"echo a & CALL x \"{P}\"", "CALL"},
		{"if exist f call x \"{P}\"", "CALL"},
		{">log call x \"{P}\"", "CALL"},
		{"2>nul call x \"{P}\"", "CALL"},
		{"%EMPTY% call x {P}", "CALL"},
		{"for %%i in (1) do call x {P}", "CALL"},
		{"c^all x {P}", "caret in a command"},
		{"cmd /c echo {P}", "CMD"},
		{`C:\Windows\System32\cmd.exe /c {P}`, "CMD"},
		{"psexec cmd /c {P}", "CMD"},
		{"%ComSpec% /c {P}", "%COMSPEC%"},
		{"start x {P}", "START"},
		{"goto {P}", "GOTO"},
		{"set \"v={P}\"\necho %V%", "SET"},
		{"set v={P}\necho %v:a=b%", "SET"},
		{"if a==a set \"v={P}\"\necho %v%", "SET"},
		{"set {P}", "SET"},
		{"set /p my v=\"{P}\"\necho %my v%", "SET"},
		{"set v%i%=\"{P}\"", "SET"},
		{"for %%i in (1) do set \"v={P}\" & call echo %%v%%", "SET"},
		{"for /f %%i in ('dir {P}') do echo", "FOR"},
		{"for %%i in ({LIST}) do echo", "FOR"},
		{"for /f %%i in ('echo do {P}') do echo", "FOR"},
		{"{P} x", "name of the command"},
		{"a & {P} x", "name of the command"},
		{"a && ( {P} )", "name of the command"},
		{"%X% {P} {P}", "name of the command"},
		{"if {P}==a echo", "IF"},
		{"if exist {P} del x", "IF"},
		{`echo "a"{P}`, "collide"},
		{`echo {P}{A}`, "collide"},
		{"echo ^{P}", "caret"},
		{"echo 5% {P} 6%", "variable name"},
		{"echo %A:x={P}%", "variable name"},
		{"setlocal enabledelayedexpansion\necho !A:x={P}!", "variable name"},
		{"setlocal DisableDelayedExpansion\necho {P}", "turns off delayed expansion"},
	},
	"powershell": {
		{"iex {P}", "iex runs text"},
		{"Invoke-Expression \"x {P}\"", "invoke-expression runs text"},
		{"{P} | iex", "iex runs text"},
		{"p {P} | # why not.\n iex", "iex runs text"},
		{"p {P}\n | iex", "iex runs text"},
		{"iex (p {P})", "iex runs text"},
		{"iex \"$(p {P})\"", "iex runs text"},
		{"iex @\"\n{P}\n\"@", "iex runs text"},
		{"iex `\n {P}", "iex runs text"},
		{"iex (\n'a' +\n{P})", "iex runs text"},
		{"& 'iex' {P}", "iex runs text"},
		{"& \"Invoke-Expression\" {P}", "invoke-expression runs text"},
		{"[scriptblock]::Create({P})", "create runs text"},
		{"[ScriptBlock]::Create(\"x {P}\").Invoke()", "create runs text"},
		{"$ExecutionContext.InvokeCommand.ExpandString({P})", "expandstring runs text"},
		{"Set-Item function:x {P}", "function runs text"},
		{"Add-Type -TypeDefinition '{P}'", "add-type runs text"},
		{"& {P} x", "name of the command"},
		{"& \"{P}\" x", "name of the command"},
		{"& '{P}.exe' x", "name of the command"},
		{"& ({P}) x", "name of the command"},
		{". {P}", "name of the command"},
		{"if ($a) { . {P} }", "name of the command"},
		{"return . {P}", "name of the command"},
		{"p {P}.txt", "the text next to it"},
		{"p pre{P}", "the text next to it"},
		{"p {P}{N}", "the text next to it"},
		{"p `{P}", "the text next to it"},
		{"$a.{P}", "the text next to it"},
		{"[{P}]$x", "the text next to it"},
		{"p --x={P}", "the text next to it"},
		{"@{P}", "the text next to it"},
		{"p \"`{P}\"", "backtick"},
		{"${x{P}} = 1", "variable's name"},
		{"p \"${x{P}}\"", "variable's name"},
		{"p --% {P}", "after --%"},
		{"p x#y {P}", "begins a comment"},
		{"p 'a {P}\n", "not closed"},
		{"p 'a\n; p {P}", "not closed"},
		{"p (a\n p \"\n {P}", "not closed"},
		{"p ) {P}", "no opening bracket"},
		{"p @'x' {P}", "here-string"},
	},
	"python": {
		{`f"{{P}} {P}"`, "f-string"},
		{`rf'{P}'`, "f-string"},
		{`t"{P}"`, "f-string"},
		{`r"{P}"`, "raw or bytes"},
		{`b'{P}'`, "raw or bytes"},
		{`Rb"""{P}"""`, "raw or bytes"},
		{`"\{P}"`, "backslash"},
		{`"\x4{P}"`, "backslash"},
		{`"\N{P}"`, "backslash"},
		{`"\\\u12{P}"`, "backslash"},
		{`x{P}`, "part of a name"},
		{`f{P}`, "part of a name"},
		{`{P}"a"`, "part of a name"},
		{`'a'{P}`, "part of a name"},
		{`{P}{N}`, "part of a name"},
		{`1{N}`, "part of a name"},
		{`é{N}`, "part of a name"},
		{`x.{P}`, "part of a name"},
		{"x = \\{P}", "part of a name"},
		{`eval({P})`, "eval runs"},
		{`exec("x = '{P}'")`, "exec runs"},
		{`builtins.eval((1, [{P}]))`, "eval runs"},
		{`eval ("a" + {P})`, "eval runs"},
		{"x = 'a\ny = {P}", "not closed"},
		{"x = '''a\ny = {P}", "not closed"},
		{"# coding: latin-1\nx = {P}", "UTF-8"},
		{"#!/usr/bin/python3\n# -*- coding: utf-7 -*-\nx = {P}", "UTF-8"},
		{`x = f"{d["k"]}"; y = {P}`, "depends on the version"},
		{`x = f"{'}'}"; y = {P}`, "depends on the version"},
		{"x = f'''{d # '\n}'''; y = {P}", "depends on the version"},
	},
}

func TestRefused(t *testing.T) {
	for language, rows := range refused {
		for _, row := range rows {
			_, problems := read(language, row.script)
			found := slices.IndexFunc(problems, func(p Problem) bool { return p.Kind == Misplaced && strings.Contains(p.Message, row.says) })
			if found < 0 || found > 0 && language != "powershell" {
				t.Errorf("%s: %s: %+v, want %q", language, row.script, problems, row.says)
			}
		}
	}
}

// TestPlaces holds what surrounds each placeholder, and what is written differently around it.
func TestPlaces(t *testing.T) {
	for _, c := range []struct{ language, script, want string }{
		{"cmd", "echo {P}", "echo <word argument slash>"},
		{"cmd", `echo "{P}"`, `echo "<inner argument before-quote slash>"`},
		{"cmd", `echo "a {P}" b`, `echo "a <inner argument before-quote slash>" b`},
		{"cmd", "p --x={P}", "p --x=<word slash>"},
		{"cmd", "set /a v={N}*2", "set /a v=<word calculated slash>*2"},
		{"cmd", `set "v={P}"`, `set "v=<inner before-quote slash>"`},
		{"cmd", "rem {P}\n:: {P}", "rem <comment>\n:: <comment>"},
		{"cmd", "echo a! ^^ {P}", "echo a!__FLOWRUN_BANG! !__FLOWRUN_CARET! <word argument slash>"},
		{"cmd", "for %%i in (a b) do echo {P}", "for %%i in (a b) do echo <word argument slash>"},
		{"cmd", "echo {RAW:P} | more", "echo <word argument slash> | more"},
		{"cmd", "a ^\n {P}", "a ^\n <word argument slash>"},
		{"cmd", "(\necho {P}\n) & echo \"a!\"", "(\necho <word argument slash>\n) & echo \"a!__FLOWRUN_BANG!\""},
		{"cmd", "echo 100%% {P} > {P}", "echo 100%% <word argument slash> > <word argument slash>"},
		{"powershell", "p {P}", "p <word argument>"},
		{"powershell", "git {P}; git -- {P}", "git <word argument>; git -- <word>"},
		{"powershell", "$v = {P}", "$v = <word>"},
		{"powershell", "p 'a {P} $x'", "p \"a <inner requoted> `$x\""},
		{"powershell", `p "{P}"`, `p "<inner argument>"`},
		{"powershell", "p @'\n{P} $x\n'@", "p @\"\n<inner requoted> `$x\n\"@"},
		{"powershell", "p @\"\n{P}\n\"@", "p @\"\n<inner>\n\"@"},
		{"powershell", "# {P}\n<# {P} #>", "# <comment>\n<# <comment> #>"},
		{"powershell", `p "$({P})"`, `p "$(<word>)"`},
		{"powershell", "p ({N} + 1)", "p (<word> + 1)"},
		{"powershell", "iex {RAW:P}", "iex <word argument>"},
		{"powershell", "p -Switch:{DEBUG}", "p -Switch:<word argument>"},
		{"powershell", "if ({N} -gt 5) { p {P} }", "if (<word> -gt 5) { p <word argument> }"},
		{"powershell", "@{ a = {P} }", "@{ a = <word> }"},
		{"powershell", "$x[0] -eq {P}", "$x[0] -eq <word>"},
		{"powershell", "({P}).Length", "(<word>).Length"},
		{"powershell", "p `\n {P}", "p `\n <word argument>"},
		{"powershell", "p 'it''s' {P}", "p 'it''s' <word argument>"},
		{"python", "x = {P}", "x = <single>"},
		{"python", "x = '{P}'", "x = '<inner>'"},
		{"python", "x = {N}.real", "x = <single parentheses>.real"},
		{"python", "# {P}", "# <comment>"},
		{"python", "x = u'''{P}'''", "x = u'''<inner>'''"},
		{"python", "f(\"\\\\{P}\")", "f(\"\\\\<inner>\")"},
		{"python", "eval({RAW:P})", "eval(<single>)"},
		{"python", "x = [{P}]; y = {'k': {P}}", "x = [<single>]; y = {'k': <single>}"},
	} {
		if got, problems := read(c.language, c.script); got != c.want || len(problems) > 0 {
			t.Errorf("%s: %s became %s, want %s; %+v", c.language, c.script, got, c.want, problems)
		}
	}
}

// TestUsedAsCode checks that a value which a function gives to a shell is a warning, unless it is a number.
func TestUsedAsCode(t *testing.T) {
	for script, want := range map[string]int{"os.system('ls ' + {P})": 1, "os.popen(str({N}))": 0, "os.system({RAW:P})": 1, "print({P})": 0} {
		_, problems := read("python", script)
		if len(problems) != want || want > 0 && problems[0].Kind != UsedAsCode {
			t.Errorf("%s: %+v", script, problems)
		}
	}
}

func TestProgram(t *testing.T) {
	for shell, want := range map[string]struct {
		program string
		own     bool
	}{
		"bash": {"bash", false}, " /usr/bin/zsh -f": {"zsh", true}, `C:\Tools\pwsh.exe -NoProfile`: {"pwsh", false}, "mksh": {"mksh", true},
	} {
		if program, own := Program(shell), HasOwnSyntax(shell); program != want.program || own != want.own {
			t.Errorf("%q: %q, %t", shell, program, own)
		}
	}
}
