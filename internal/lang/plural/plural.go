// Package plural writes numbers of things in words: "1 run", "2 runs".
package plural

import (
	"fmt"
	"strings"
)

// Of returns a number of things. thing is an English noun in the singular that forms its plural by rule: with s, ies or es.
func Of(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(thing, "y"))
	case strings.HasSuffix(thing, "ch"):
		return fmt.Sprintf("%d %ses", n, thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
