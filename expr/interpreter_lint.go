package expr

import (
	"regexp"
	"strings"
	"sync"
)

// interpreterCall is a program with the option behind which code stands, in a script
// whose quoting does not matter for that: of PowerShell or cmd.
var interpreterCall = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)(?:^|[\s&|;({"'\\/])((?:ba|da|z|k)?sh|cmd|python[23]?|py|node|perl|ruby|php|ssh|wsl|pwsh|powershell)(?:\.exe)?["']?((?:[ \t]+[-/][\w-]+(?:[ \t]+(?:Bypass|Hidden|Unrestricted|RemoteSigned))?)*?)[ \t]+(-\w*c|-e|-r|-p|-command|-encodedcommand|/[ckr])[ \t]+`)
})

// lintInterpreters warns of values in the code that a script of PowerShell or cmd gives to an
// interpreter.
func lintInterpreters(src string, pieces []piece) (problems []Problem) {
	text, markers := withMarkers(src, pieces)
	for _, call := range interpreterCall().FindAllStringSubmatchIndex(text, -1) {
		from := call[1]
		to := from + argumentEnd(text[from:])
		if strings.EqualFold(text[call[2]:call[3]], "cmd") { // it reads the rest of the line
			line, _, _ := strings.Cut(text[from:], "\n")
			to = from + len(line)
		}
		program := text[call[2]:call[3]] + " " + text[call[6]:call[7]]
		for _, p := range markers {
			if from <= p.off && p.off < to && p.placeholder.mayHoldText() && p.placeholder.pos.form != formComment {
				problems = append(problems, usedAsCode(p.placeholder, program))
			}
		}
	}
	return problems
}

// argumentEnd is where the argument ends that text begins with: at its closing quotation
// mark, else at the next space or separator.
func argumentEnd(text string) int {
	quote := byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case isBlank(c) || c == ';' || c == '|' || c == '&' || c == ')':
			return i
		}
	}
	return len(text)
}
