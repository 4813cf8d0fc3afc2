package expr

import (
	"regexp"
	"runtime"
	"strings"
	"sync"
)

// windowsPath matches a word that begins as paths of Windows do: C:\dir, \\server\share, .\file and ..\file.
var windowsPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z]:|\.\.?|\\\\[A-Za-z0-9._-]+)\\[^\s'"]`)
})

// lintBackslashes reports the words of a command from which the rules of run take a backslash that is not before a
// character with a meaning. That is an error in a path of Windows, and in any word if the system is Windows: the program
// would work on another path. Elsewhere it is a warning before a letter or a digit, which no rule gives a meaning.
func lintBackslashes(src string, pieces []piece, windows bool) (problems []Problem) {
	if strings.IndexByte(src, '\\') < 0 { // as in most commands
		return nil
	}
	var quote byte
	start, lost := 0, false       // of the current word
	asked, strict := false, false // whether the current word is a path of Windows, or this is Windows
	end := func(at int) {
		if lost {
			problems = append(problems, lostBackslash(src, start, at, windows))
		}
		start, lost, asked = at+1, false, false
	}
	skip := placeholdersOf(pieces)
	for i := 0; i < len(src); i++ {
		if n := skip[i]; n > 0 {
			i += n - 1
			continue
		}
		switch c := src[i]; {
		case c == '\\' && quote != '\'' && i+1 < len(src):
			if quote == 0 && !asked { // once for each word: a word can be long
				asked, strict = true, windows || windowsPath().MatchString(src[start:])
			}
			lost = lost || quote == 0 && takenAway(src[i+1], strict)
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && strings.IndexByte(" \t\r\n", c) >= 0:
			end(i)
		}
	}
	end(len(src))
	return problems
}

// placeholdersOf returns the length of the placeholder at each offset where one begins.
func placeholdersOf(pieces []piece) map[int]int {
	lengths := map[int]int{}
	for _, p := range pieces {
		if p.placeholder != nil {
			lengths[p.placeholder.off] = p.placeholder.len
		}
	}
	return lengths
}

// takenAway reports whether nobody means a backslash before c as an escape.
func takenAway(c byte, path bool) bool {
	letter := c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
	return letter || path && strings.IndexByte(" \t\r\n'\"\\", c) < 0
}

func lostBackslash(src string, start, end int, windows bool) Problem {
	word := src[start:end]
	p := problemf(codeBackslash, start, end-start, "put the word in single quotes: '"+word+"'",
		"outside quotes run takes the backslashes away from %s", word)
	p.Warning = !windows && !windowsPath().MatchString(word)
	if strings.Contains(word, "'") {
		p.Hint = `write \\ for each backslash`
	}
	return p
}

// onWindows says whose rules apply to paths.
const onWindows = runtime.GOOS == "windows"
