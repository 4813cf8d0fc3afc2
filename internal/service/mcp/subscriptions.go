package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/yosida95/uritemplate/v3"
)

// subscriptions are the resources of which clients want to know when they change. Other processes write to the history
// too, so the state of these resources is compared once in a while, as long as there are any. The library sends the
// notifications.
type subscriptions struct {
	mu      sync.Mutex
	watched map[string]*watchedResource // by URI
}

// watchedResource is a resource that clients have subscribed to.
type watchedResource struct {
	uri      string
	sessions map[*mcp.ServerSession]bool
	state    string // when it was last compared
	events   uint64 // number of the last event of a run
}

const (
	// compareInterval is the time between two comparisons.
	compareInterval = time.Second
	// maxSubscriptions limits the work that clients can cause.
	maxSubscriptions = 1000
)

var errTooManySubscriptions = errors.New("too many resources are subscribed to")

// subscribe implements mcp.ServerOptions.SubscribeHandler.
func (s *Server) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	w := &watchedResource{uri: req.Params.URI, sessions: map[*mcp.ServerSession]bool{}}
	state, err := s.stateOf(ctx, w)
	if err != nil {
		return mcp.ResourceNotFoundError(req.Params.URI)
	}
	w.state = state
	s.subscriptions.mu.Lock()
	defer s.subscriptions.mu.Unlock()
	if other := s.subscriptions.watched[w.uri]; other != nil {
		w = other
	} else if len(s.subscriptions.watched) >= maxSubscriptions {
		return errTooManySubscriptions
	}
	w.sessions[req.Session] = true
	if s.subscriptions.watched == nil {
		s.subscriptions.watched = map[string]*watchedResource{}
		go s.watchResources()
	}
	s.subscriptions.watched[w.uri] = w
	return nil
}

// unsubscribe implements mcp.ServerOptions.UnsubscribeHandler.
func (s *Server) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	s.subscriptions.mu.Lock()
	defer s.subscriptions.mu.Unlock()
	if w := s.subscriptions.watched[req.Params.URI]; w != nil {
		delete(w.sessions, req.Session)
	}
	return nil
}

// watchResources notifies clients of changes until there are no subscriptions.
func (s *Server) watchResources() {
	for {
		time.Sleep(compareInterval)
		list := s.subscribed()
		if list == nil {
			return
		}
		for _, w := range list {
			s.compare(context.Background(), w)
		}
	}
}

// subscribed returns the resources that clients with a connection have subscribed to. If it returns nil, the next
// subscription must start watchResources.
func (s *Server) subscribed() (list []*watchedResource) {
	connected := map[*mcp.ServerSession]bool{}
	for session := range s.sdk.Sessions() {
		connected[session] = true
	}
	s.subscriptions.mu.Lock()
	defer s.subscriptions.mu.Unlock()
	for uri, w := range s.subscriptions.watched {
		for session := range w.sessions {
			if !connected[session] {
				delete(w.sessions, session)
			}
		}
		if len(w.sessions) == 0 {
			delete(s.subscriptions.watched, uri)
			continue
		}
		list = append(list, w)
	}
	if list == nil {
		s.subscriptions.watched = nil
	}
	return list
}

// compare notifies clients if a resource has changed. Only watchResources calls it.
func (s *Server) compare(ctx context.Context, w *watchedResource) {
	state, err := s.stateOf(ctx, w)
	if err != nil {
		state = err.Error() // the resource is gone: that is a change too
	}
	if state == w.state {
		return
	}
	w.state = state
	_ = s.sdk.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: w.uri}) // never fails
}

// stateOf returns a text that is different after a resource has changed. Resources that cannot be subscribed to have
// none: the log and the output of a run change with every line, and the list of runs says when they end.
func (s *Server) stateOf(ctx context.Context, w *watchedResource) (string, error) {
	run, ofRun := strings.CutPrefix(w.uri, runsURI+"/")
	switch {
	case s.config.Store != nil && w.uri == runsURI:
		list, err := s.config.Store.Runs(ctx, history.Query{Limit: maxListed})
		return fmt.Sprint(list), err
	case s.config.Store != nil && ofRun && !strings.ContainsAny(run, "/?"):
		return s.stateOfRun(ctx, run, &w.events)
	}
	for _, o := range s.offers() {
		if template, err := uritemplate.New(o.uri); o.uri != "" && err == nil && template.Match(w.uri) != nil {
			return o.source, nil
		}
	}
	return "", errNoResource
}

// stateOfRun returns a text that is different after a run has changed. events is the number of the last known event.
func (s *Server) stateOfRun(ctx context.Context, id string, events *uint64) (string, error) {
	info, err := s.config.Store.Info(ctx, id)
	if err != nil {
		return "", err
	}
	if !s.Shows(ctx, info) {
		return "", errNoResource
	}
	more, err := s.config.Store.Events(ctx, id, *events)
	if err != nil {
		return "", err
	}
	if len(more) > 0 {
		*events = more[len(more)-1].Seq
	}
	return fmt.Sprint(*events, info), nil
}
