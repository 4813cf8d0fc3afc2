package mcp

import "github.com/modelcontextprotocol/go-sdk/mcp"

// Offer is one tool of a server, for people.
type Offer struct {
	Tool        string // the name that the server gave it
	Name        string // the name in flowrun
	Description string
	Changed     bool   // the server is trusted, but the tool has changed since
	Problem     string // why it cannot be used; "" if it can
}

// trustedTools returns the names of the listed tools whose calls need no approval.
func (r *remote) trustedTools(listed []*mcp.Tool) map[string]bool {
	trusted := map[string]bool{}
	for _, t := range listed {
		trusted[t.Name] = r.config.Trust
	}
	return trusted
}
