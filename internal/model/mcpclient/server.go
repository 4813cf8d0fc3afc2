package mcpclient

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

const (
	// connectLimit is how long connecting to a server and listing its tools may take.
	connectLimit = 30 * time.Second
	// retryAfter is how long a server that could not be connected is left alone.
	retryAfter = time.Minute
)

// remote is one server of a Client.
type remote struct {
	client *Client
	config ServerConfig
	limit  time.Duration // of connecting and listing the tools
	login  *login        // nil = use the stored token

	sampling, questions allowance
	progress            progressReports

	turn chan struct{} // holds a value while somebody connects or reads the list
	// These fields are written in turn, and with mu.
	mu      sync.Mutex
	link    *link // nil if there is none
	tools   []*tool.Definition
	raw     []*mcp.Tool // as the server listed them
	offers  []Offer
	listed  bool
	failure error // why the last attempt failed
	tried   time.Time
	closed  bool

	stale    atomic.Bool // the server has announced another list
	reported sync.Map    // problems that were reported
}

func newRemote(c *Client, s ServerConfig) *remote {
	return &remote{client: c, config: s, limit: connectLimit, turn: make(chan struct{}, 1), sampling: newAllowance(), questions: newAllowance()}
}

// definitions returns the tools of the server. It connects if that is needed, and reports problems.
func (r *remote) definitions() []*tool.Definition {
	_ = r.refresh(r.client.ctx) // a failure has been reported
	return r.known()
}

// known returns the tools as they were last listed.
func (r *remote) known() []*tool.Definition {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tools
}

func (r *remote) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failure != nil
}

// refresh reads the list of tools, unless it is known.
func (r *remote) refresh(ctx context.Context) error {
	if err := r.enter(ctx); err != nil {
		return err
	}
	defer r.leave()
	if r.listed && !r.stale.Load() {
		return nil
	}
	if r.failure != nil && time.Since(r.tried) < retryAfter {
		return r.failure
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.limit, fmt.Errorf("it did not answer within %v", r.limit))
	defer cancel()
	l, err := r.connect(ctx)
	if err == nil {
		r.stale.Store(false)
		err = r.list(ctx, l)
	}
	r.fail(err)
	return err
}

// fail notes and reports why the server cannot be used. err is nil if it can.
func (r *remote) fail(err error) {
	if err != nil && r.client.ctx.Err() != nil {
		return // the user gave up, which says nothing about the server
	}
	r.mu.Lock()
	r.failure, r.tried = err, time.Now()
	r.mu.Unlock()
	if err != nil {
		r.report(err.Error())
	}
}

// report reports a problem once.
func (r *remote) report(problem string) {
	if _, twice := r.reported.LoadOrStore(problem, true); !twice {
		r.client.report(r.config.Name, problem)
	}
}

// enter waits for the turn of the caller.
func (r *remote) enter(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *remote) leave() { <-r.turn }

// connected returns the connection, for a call. If it was lost, the server is connected again.
func (r *remote) connected(ctx context.Context) (*link, error) {
	if err := r.enter(ctx); err != nil {
		return nil, err
	}
	defer r.leave()
	ctx, cancel := context.WithTimeoutCause(ctx, r.limit, fmt.Errorf("it did not answer within %v", r.limit))
	defer cancel()
	return r.connect(ctx)
}

// connect returns the connection, and makes one if there is none. It must be the caller's turn.
func (r *remote) connect(ctx context.Context) (*link, error) {
	if r.link != nil && !r.link.isLost() {
		return r.link, nil
	}
	if r.closed {
		return nil, errEnding
	}
	if r.link != nil {
		r.link.close()
	}
	l, err := dial(ctx, r)
	r.mu.Lock()
	r.link = l
	r.mu.Unlock()
	return l, err
}

// drop gives up a connection that the server no longer knows.
func (r *remote) drop(l *link) {
	if r.enter(context.Background()) != nil {
		return
	}
	defer r.leave()
	if r.link == l {
		l.close()
	}
}

// close ends the connection.
func (r *remote) close() {
	r.turn <- struct{}{}
	defer r.leave()
	r.closed = true
	if r.link != nil {
		r.link.close()
	}
}

// Limits of a list of tools.
const (
	maxPages = 100
	maxTools = 2000
)

// list reads the tools of the server. It must be the caller's turn.
func (r *remote) list(ctx context.Context, l *link) error {
	var all []*mcp.Tool
	cursors := map[string]bool{"": true}
	for params := (&mcp.ListToolsParams{}); ; {
		page, err := l.session.ListTools(ctx, params)
		if err != nil && l.withoutTools(err) {
			break
		}
		if err != nil {
			return fmt.Errorf("cannot list its tools: %w", l.explain(ctx, err))
		}
		if left := leftOutOf(page.Meta); left != "" {
			r.report("its list of tools is used without fields that are not valid: " + left)
		}
		all = append(all, page.Tools...)
		if page.NextCursor == "" {
			break
		}
		if cursors[page.NextCursor] || len(cursors) == maxPages || len(all) > maxTools {
			r.report(fmt.Sprintf("its list of tools does not end; at most the first %d are used", maxTools))
			break
		}
		cursors[page.NextCursor] = true
		params.Cursor = page.NextCursor
	}
	if len(all) > maxTools {
		r.report(fmt.Sprintf("it lists %d tools; only the first %d are used", len(all), maxTools))
	}
	r.use(all[:min(len(all), maxTools)])
	return nil
}

// use makes definitions of the listed tools.
func (r *remote) use(listed []*mcp.Tool) {
	offers := make([]Offer, 0, len(listed))
	var tools []*tool.Definition
	trusted := r.trustedTools(listed)
	for _, t := range listed {
		o := Offer{Tool: plainText(t.Name, maxTitle), Name: r.config.Name + separator + plainText(t.Name, maxTitle), Description: plainText(t.Description, maxDescription)}
		def, leftOut, err := r.definition(t)
		switch {
		case !r.selects(t.Name):
			o.Problem = "excluded by the settings"
		case err != nil:
			o.Problem = err.Error()
			r.report(fmt.Sprintf("its tool %q is not used: %v", o.Tool, err))
		case find(tools, def.Name) != nil:
			o.Problem = "another tool of the server has the same name"
			r.report(fmt.Sprintf("its tool %q is listed more than once", o.Tool))
		default:
			def.SourceTrusted = trusted[t.Name]
			o.Trusted, o.Changed = def.SourceTrusted, r.config.Trust && !def.SourceTrusted
			tools = append(tools, def)
			if len(leftOut) > 0 {
				o.Notes = append(o.Notes, "is used without a part of its schema, which the server has to check: "+plainText(strings.Join(leftOut, ", "), maxTitle))
			}
			if left := leftOutOf(t.Meta); left != "" {
				o.Notes = append(o.Notes, "is used without fields that are not valid: "+left)
			}
			for _, note := range o.Notes {
				r.report(fmt.Sprintf("its tool %q %s", o.Tool, note))
			}
		}
		offers = append(offers, o)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tools, r.raw, r.offers, r.listed = tools, listed, offers, true
}

// leftOutOf returns which fields readable has left out of an object with this _meta, "" for none.
func leftOutOf(meta mcp.Meta) string {
	names, _ := meta[leftOutKey].(string)
	return plainText(names, maxTitle)
}

// withoutTools reports whether an error of a list says that the server has no tools: it does not know the request, and has
// announced none.
func (l *link) withoutTools(err error) bool {
	answer, about := answerIn(err), l.session.InitializeResult()
	return answer != nil && answer.Code == jsonrpc.CodeMethodNotFound && (about == nil || about.Capabilities == nil || about.Capabilities.Tools == nil)
}

// selects reports whether the settings select a tool.
func (r *remote) selects(name string) bool {
	in := func(list []string) bool { return slices.Contains(list, name) || slices.Contains(list, "*") }
	return !in(r.config.Exclude) && (len(r.config.Include) == 0 || in(r.config.Include))
}
