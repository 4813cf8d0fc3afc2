package diagnostic

import (
	"regexp"
	"sync"
)

// Pattern returns a function that compiles a regular expression at its first call, so that starting the program does
// not compile all of them.
func Pattern(src string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(src) })
}
