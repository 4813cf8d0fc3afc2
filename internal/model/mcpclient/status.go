package mcpclient

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Offer is one tool of a server, for people.
type Offer struct {
	Tool        string // the name that the server gave it
	Name        string // the name in flowrun
	Description string
	Trusted     bool   // calls need no approval
	Changed     bool   // the server is trusted, but the tool has changed since
	Problem     string // why it cannot be used; "" if it can
	// Notes say what is not as the server wrote it. Each follows the name of the tool.
	Notes []string
}

// Status is what is known of a server.
type Status struct {
	Config   ServerConfig
	Problem  string // why it cannot be used; "" if it is connected
	Program  string // the name that the server gave itself, with its version
	Protocol string // version of the protocol
	Offers   []Offer
}

// Statuses connects the servers and returns their status, sorted by name.
func (c *Client) Statuses() []Status {
	list := make([]Status, len(c.remotes))
	c.each(func(i int, r *remote) { list[i] = r.status() })
	return list
}

// Status connects a server. It reports whether there is one with that name.
func (c *Client) Status(server string) (Status, bool) {
	r := c.remote(server)
	if r == nil {
		return Status{}, false
	}
	return r.status(), true
}

// Accept stores that the user accepts the tools of a trusted server as they are now.
func (c *Client) Accept(server string) error {
	r := c.remote(server)
	if r == nil {
		return fmt.Errorf("there is no MCP server %q", server)
	}
	if err := r.refresh(c.ctx); err != nil {
		return err
	}
	r.mu.Lock()
	listed := r.raw
	r.mu.Unlock()
	if err := r.accept(listed); err != nil {
		return err
	}
	r.stale.Store(true)
	return nil
}

func (r *remote) status() Status {
	s := Status{Config: r.config}
	if err := r.refresh(r.client.ctx); err != nil {
		s.Problem = err.Error()
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Offers = r.offers
	if r.link != nil {
		s.describe(r.link.session.InitializeResult())
	}
	return s
}

// describe sets what a server says of itself.
func (s *Status) describe(about *mcp.InitializeResult) {
	if about == nil {
		return
	}
	s.Protocol = plainText(about.ProtocolVersion, maxTitle)
	if i := about.ServerInfo; i != nil {
		s.Program = plainText(i.Name+" "+i.Version, maxTitle)
	}
}
