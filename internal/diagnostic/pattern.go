package diagnostic

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression that is compiled when it is first used: every
// start of the program would pay for all of them otherwise.
func Pattern(src string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(src) })
}
