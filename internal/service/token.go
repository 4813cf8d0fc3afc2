package service

import (
	"path"
	"slices"
)

// Token is the credential of a caller over the network, and the tools that it is valid for.
type Token struct {
	Text string
	// Tools are patterns of the names of the tools that the holder may start and whose runs
	// it may see. nil: all that the service offers.
	Tools []string
}

// Permits reports whether the token is valid for a tool.
func (t Token) Permits(tool string) bool { return t.Tools == nil || MatchesAny(t.Tools, tool) }

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
