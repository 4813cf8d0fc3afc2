package mcp

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/model/funcschema"
)

// A tool is compiled when a client asks for it: when it is called, when the page of the list is asked for that it is
// on, or with all others when prompts or resources are listed. So a Server of ten thousand tools starts like one of ten.

// list has the tools that clients can see, as far as they have been compiled.
type list struct {
	offered   map[string]offer  // by the name in the protocol
	addresses map[string]string // of resources, with the tool
	compiled  map[string]bool   // names of tools
	rest      []string          // names of those whose turn has not come, in the order in which clients see them
}

// listPage is how many tools a client gets at once.
var listPage = 1000 // fewer in tests

// shownAs returns the name of a tool in the protocol.
func shownAs(name string) string { return funcschema.Name(name, funcschema.MCP) }

// begin makes the list anew. No tool has been compiled then.
func (s *Server) begin() {
	s.list = &list{offered: map[string]offer{}, addresses: map[string]string{}, compiled: map[string]bool{}, rest: s.config.Filter.names(s.config.Library)}
	slices.SortStableFunc(s.list.rest, func(a, b string) int { return cmp.Compare(shownAs(a), shownAs(b)) })
}

// offerMore offers the next n tools.
func (s *Server) offerMore(n int, before map[string]offer) {
	for ; n > 0 && len(s.list.rest) > 0; n-- {
		name := s.list.rest[0]
		s.list.rest = s.list.rest[1:]
		s.offer(name, before)
	}
}

// Refresh updates the list of tools after definitions have changed, and notifies clients. A tool that has become invalid
// is no longer listed. As long as no client has asked for a tool, there is nothing to do.
func (s *Server) Refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == nil {
		return
	}
	s.refreshed.Store(true)
	before := s.list.offered
	s.begin()
	s.offerMore(len(s.list.rest), before)
	s.removeOthers(before)
}

// shown returns the tool that clients see under a name.
func (s *Server) shown(name string) (o offer, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == nil {
		s.begin()
	}
	at, _ := slices.BinarySearchFunc(s.list.rest, name, func(tool, name string) int { return cmp.Compare(shownAs(tool), name) })
	for ; at < len(s.list.rest) && shownAs(s.list.rest[at]) == name; at++ {
		s.offer(s.list.rest[at], nil)
	}
	o, ok = s.list.offered[name]
	return o, ok
}

// offerOf returns what clients can see of a tool.
func (s *Server) offerOf(name string) (offer, bool) {
	o, ok := s.shown(shownAs(name))
	return o, ok && o.tool == name
}

// offers returns all that clients can see. The map does not change: a new list gets a new one.
func (s *Server) offers() map[string]offer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == nil {
		s.begin()
	}
	s.offerMore(len(s.list.rest), nil)
	return s.list.offered
}

// offering is middleware of the server that offers what a request is about before the library looks for it.
func (s *Server) offering(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		switch r := r.(type) {
		case *mcp.CallToolRequest:
			s.shown(r.Params.Name)
		case *mcp.GetPromptRequest:
			s.shown(r.Params.Name)
		case *mcp.ListToolsRequest:
			return s.page(ctx, method, r, next)
		case *mcp.ListPromptsRequest, *mcp.ListResourcesRequest, *mcp.ListResourceTemplatesRequest, *mcp.SubscribeRequest:
			s.offers()
		case *mcp.ReadResourceRequest:
			if !strings.HasPrefix(r.Params.URI, runsURI) {
				s.offers()
			}
		}
		return next(ctx, method, r)
	}
}

// page returns one page of the list of tools. It offers more until the library has all tools of the page, and one more:
// only then it says that there is a next page.
func (s *Server) page(ctx context.Context, method string, r mcp.Request, next mcp.MethodHandler) (mcp.Result, error) {
	for {
		first, all := s.firstOfRest()
		result, err := next(ctx, method, r)
		page, ok := result.(*mcp.ListToolsResult)
		if all || err != nil || !ok || page.NextCursor != "" && page.Tools[len(page.Tools)-1].Name < first {
			return result, err
		}
		s.mu.Lock()
		s.offerMore(listPage, nil)
		s.mu.Unlock()
	}
}

// firstOfRest returns the name in the protocol of the first tool whose turn has not come. all means that there is none.
func (s *Server) firstOfRest() (name string, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == nil {
		s.begin()
	}
	if len(s.list.rest) == 0 {
		return "", true
	}
	return shownAs(s.list.rest[0]), false
}

// withoutNews is middleware of the server that keeps the library from telling clients that the list has changed, when
// only more of it has been compiled.
func (s *Server) withoutNews(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if strings.HasSuffix(method, "/list_changed") && !s.refreshed.Load() {
			return nil, nil
		}
		return next(ctx, method, r)
	}
}
