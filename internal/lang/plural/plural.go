// Package plural writes numbers of things in words: "1 run", "2 runs", "one, two, 3 more".
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

// Names lists names, of more than most only the first: "one, two, 3 more".
func Names[S ~string](names []S, most int) string {
	words := make([]string, 0, most+1)
	for _, s := range names[:min(len(names), most)] {
		words = append(words, string(s))
	}
	if more := len(names) - most; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}
