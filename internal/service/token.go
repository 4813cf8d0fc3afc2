package service

import (
	"path"
	"slices"
)

// Token is what a caller over the network shows, and what it is good for.
type Token struct {
	Text string
	// Tools are patterns of the names of the tools that it may start, and whose runs it
	// sees. nil is all that the service offers.
	Tools []string
}

// Permits says whether the token is good for a tool.
func (t Token) Permits(tool string) bool { return t.Tools == nil || MatchesAny(t.Tools, tool) }

// MatchesAny says whether a name matches one of the patterns, in which * stands for any
// text and ? for one character.
func MatchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}

// CheckPattern says what is wrong with a pattern for names of tools.
func CheckPattern(pattern string) error {
	_, err := path.Match(pattern, "")
	return err
}
