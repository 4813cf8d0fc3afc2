package tool

import (
	"regexp"
	"sync"
)

var secretWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(token|password|passwd|passphrase|secret|credentials?|api[_-]?key|private[_-]?key|access[_-]?key)$`)
})

// LooksSecret says whether a parameter or variable of that name is likely to hold a secret:
// it ends in a word like TOKEN, PASSWORD or API_KEY, in capitals or not. Definitions
// name their secrets; this is for what nobody has declared.
func LooksSecret(name string) bool { return secretWords().MatchString(name) }
