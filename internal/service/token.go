package service

import "github.com/flowrun/flowrun/internal/service/catalog"

// Token is the credential of a caller over the network, and the tools that it is valid for.
type Token struct {
	Text string
	// Tools are patterns of the names of the tools that the holder may start and whose runs
	// it may see. nil: all that the service offers.
	Tools []string
}

// Permits reports whether the token is valid for a tool.
func (t Token) Permits(tool string) bool { return t.Tools == nil || catalog.MatchesAny(t.Tools, tool) }
