package catalog

import (
	"path"
	"slices"
)

// MatchesAny reports whether a name matches one of the patterns. In a pattern, * matches
// any text and ? one character.
func MatchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}

// CheckPattern returns an error if a pattern of tool names is invalid.
func CheckPattern(pattern string) error {
	_, err := path.Match(pattern, "")
	return err
}
