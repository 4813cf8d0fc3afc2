package mcpclient

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/sampling"
	"github.com/flowrun/flowrun/internal/model/servername"
	"github.com/flowrun/flowrun/library"
)

// ServerConfig is a server whose tools are tools of flowrun. Exactly one of Command, URL and
// HTTPURL is set. $NAME and ${NAME} in texts are environment variables of flowrun.
type ServerConfig struct {
	Name    string
	Owner   string // the project whose settings declare it; "" for other settings
	Command string // the program to start
	Args    []string
	Env     map[string]string
	EnvFile string // with more of Env, relative to the workspace; "" for none
	Dir     string // working directory; "" is the workspace, to which it may be relative
	URL     string // over HTTP, with the transport that Type says
	HTTPURL string // for streamable HTTP
	Type    string // of URL: TypeHTTP or its other spellings, TypeSSE; "" = what the server supports. With Command, TypeProgram or ""
	Headers map[string]string
	OAuth   OAuth         // for streamable HTTP
	Timeout time.Duration // of one call
	Trust   bool          // its tools need no approval, as long as they do not change
	Include []string      // names of tools, or * for all; none = all
	Exclude []string      // names of tools; overrides Include

	Description string
}

// Types of servers, as other programs write them.
const (
	TypeProgram = "stdio"
	TypeHTTP    = "http" // streamable HTTP
	TypeSSE     = "sse"  // server-sent events, an older transport
)

// Config sets the servers of a Client.
type Config struct {
	Servers   []ServerConfig
	Workspace string           // the folder in which servers run, and that they may ask about
	StateDir  string           // stores what trusted tools looked like; "" = nothing is stored
	Version   string           // of the program
	Sampler   sampling.Sampler // answers servers that ask a language model; nil = nobody
	// Ask asks a person a question of a server. The error says that the person cancelled. nil = there is
	// nobody, which declines.
	Ask func(ctx context.Context, server string, q history.Question) (history.Answer, error)
	// Report is called with every problem of a server, once. It must be safe for concurrent use.
	Report func(server, problem string)
}

// Client finds and calls the tools of servers. It is a library.Provider. A server is connected when
// one of its tools may be needed. Create it with New.
type Client struct {
	config    Config
	remotes   []*remote // sorted by name
	ctx       context.Context
	interrupt context.CancelCauseFunc
}

// New returns a Client. It does not connect.
func New(c Config) *Client {
	client := &Client{config: c}
	client.ctx, client.interrupt = context.WithCancelCause(context.Background())
	for _, s := range c.Servers {
		client.remotes = append(client.remotes, newRemote(client, s))
	}
	slices.SortFunc(client.remotes, func(a, b *remote) int { return strings.Compare(a.config.Name, b.config.Name) })
	return client
}

// separator stands between the name of a server and the name of its tool. callerPrefix may come
// before both, because other programs name tools so.
const (
	separator    = servername.Separator
	callerPrefix = "mcp" + separator
)

// Find implements library.Provider. A name is server__tool, mcp__server__tool, or the name of a tool
// that only one server has. Only the last form connects all servers. A tool server__tool of a server
// with the name mcp does not take the place of the tool of another server.
func (c *Client) Find(name string) (*tool.Definition, error) {
	named := false
	for _, form := range []string{strings.TrimPrefix(name, callerPrefix), name} {
		if server, _, ok := strings.Cut(form, separator); ok {
			if r := c.remote(server); r != nil {
				if def := find(r.definitions(), form); def != nil {
					return def, nil
				}
				named = true
			}
		}
	}
	if named {
		return nil, nil
	}
	var found []*tool.Definition
	for _, def := range c.Tools() {
		if _, bare, _ := strings.Cut(def.Name, separator); bare == name {
			found = append(found, def)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return found[0], nil
	}
	e := &library.AmbiguousNameError{Name: name}
	for _, def := range found {
		e.Candidates = append(e.Candidates, def.Name)
	}
	return nil, e
}

func find(list []*tool.Definition, name string) *tool.Definition {
	i := slices.IndexFunc(list, func(d *tool.Definition) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return list[i]
}

// remote returns the server with a name, or nil.
func (c *Client) remote(name string) *remote {
	i := slices.IndexFunc(c.remotes, func(r *remote) bool { return r.config.Name == name })
	if i < 0 {
		return nil
	}
	return c.remotes[i]
}

// Tools implements library.Provider. It connects all servers, at the same time.
func (c *Client) Tools() []*tool.Definition {
	lists := make([][]*tool.Definition, len(c.remotes))
	c.each(func(i int, r *remote) { lists[i] = r.definitions() })
	return slices.Concat(lists...)
}

// Known implements library.Provider with the tools of connected servers.
func (c *Client) Known() (list []*tool.Definition) {
	for _, r := range c.remotes {
		list = append(list, r.known()...)
	}
	return list
}

// each calls f for every server, at the same time, and waits.
func (c *Client) each(f func(int, *remote)) {
	var all sync.WaitGroup
	for i, r := range c.remotes {
		all.Go(func() { f(i, r) })
	}
	all.Wait()
}

// Failed returns the names of the servers that could not be connected.
func (c *Client) Failed() (names []string) {
	for _, r := range c.remotes {
		if r.failed() {
			names = append(names, r.config.Name)
		}
	}
	return names
}

// errEnding reports that a Client was closed.
var errEnding = errors.New("flowrun is ending")

// Interrupt ends connecting to servers. Tools of servers that are not connected are not found then.
func (c *Client) Interrupt(why error) { c.interrupt(why) }

// Close ends all connections and the processes of servers. Do not use the Client afterwards.
func (c *Client) Close() {
	c.interrupt(errEnding)
	c.each(func(_ int, r *remote) { r.close() })
}

// report passes on a problem of a server.
func (c *Client) report(server, problem string) {
	if c.config.Report != nil {
		c.config.Report(server, problem)
	}
}
