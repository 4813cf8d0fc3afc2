package quoting

import (
	"regexp"
	"strings"
	"sync"
)

// interpreterCall matches a program and the option after which code follows, in a script for
// PowerShell or cmd. The quoting of those scripts does not matter for it.
var interpreterCall = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)(?:^|[\s&|;({"'\\/])((?:ba|da|z|k)?sh|cmd|python[23]?|py|node|perl|ruby|php|ssh|wsl|pwsh|powershell)(?:\.exe)?["']?((?:[ \t]+[-/][\w-]+(?:[ \t]+(?:Bypass|Hidden|Unrestricted|RemoteSigned))?)*?)[ \t]+(-\w*c|-e|-r|-p|-command|-encodedcommand|/[ckr])[ \t]+`)
})

// lintInterpreters warns of placeholders in code that a script for PowerShell or cmd passes to an
// interpreter.
func lintInterpreters(src string, pieces []Piece) (problems []Problem) {
	text, markers := Mark(src, pieces)
	for _, call := range interpreterCall().FindAllStringSubmatchIndex(text, -1) {
		from := call[1]
		to := from + argumentEnd(text[from:])
		if strings.EqualFold(text[call[2]:call[3]], "cmd") { // cmd reads the rest of the line
			line, _, _ := strings.Cut(text[from:], "\n")
			to = from + len(line)
		}
		program := text[call[2]:call[3]] + " " + text[call[6]:call[7]]
		for _, p := range markers {
			if from <= p.Off && p.Off < to && p.Placeholder.MayHoldText && p.Placeholder.Place.Form != Comment {
				problems = append(problems, ReadAsCode(p.Placeholder, program))
			}
		}
	}
	return problems
}

// argumentEnd returns where the argument at the start of text ends: at its closing quote,
// otherwise at the next space or separator.
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
		case strings.IndexByte(" \t\r\n;|&)", c) >= 0:
			return i
		}
	}
	return len(text)
}
