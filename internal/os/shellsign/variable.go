package shellsign

import (
	"regexp"
	"strings"
	"sync"
)

// Variable is a reference to a variable as a shell writes it, $NAME or ${NAME}: Len bytes at Off.
type Variable struct {
	Off, Len int
	Name     string
	Braces   bool
}

var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$([A-Za-z_][A-Za-z0-9_]*)|\$\{([A-Za-z_][A-Za-z0-9_]*)[^}\n]*\}`)
})

// Variables returns the variables in a text.
func Variables(text string) []Variable {
	var list []Variable
	for _, m := range variable().FindAllStringSubmatchIndex(text, -1) {
		if m[0] > 0 && (text[m[0]-1] == '\\' || text[m[0]-1] == '$') {
			continue
		}
		if m[2] >= 0 {
			list = append(list, Variable{m[0], m[1] - m[0], text[m[2]:m[3]], false})
		} else {
			list = append(list, Variable{m[0], m[1] - m[0], text[m[4]:m[5]], true})
		}
	}
	return list
}

// InSingleQuotes returns the variables in single quotes of a script for a shell, which are text there.
func InSingleQuotes(script string) []Variable {
	masked := []byte(strings.Repeat(" ", len(script)))
	quote, comment := byte(0), false
	for i := 0; i < len(script); i++ {
		c := script[i]
		switch {
		case c == '\n' && quote != '\'':
			comment = false
		case comment:
		case quote == '\'' && c != '\'':
			masked[i] = c
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && quote != '\'':
			i++
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == '#' && (i == 0 || strings.IndexByte(" \t\n;", script[i-1]) >= 0):
			comment = true
		}
	}
	return Variables(string(masked))
}
