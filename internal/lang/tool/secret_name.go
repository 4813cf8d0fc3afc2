package tool

import (
	"regexp"
	"sync"
)

var secretWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(token|password|passwd|passphrase|secret|credentials?|api[_-]?key|private[_-]?key|access[_-]?key|[_-]pass|[_-]pwd)$`)
})

// LooksSecret reports whether a parameter or variable with that name probably holds a secret: the name ends in a word
// like TOKEN, PASSWORD or API_KEY, in upper or lower case. Use it for values that were not declared as secrets.
func LooksSecret(name string) bool { return secretWords().MatchString(name) }
