package service

import (
	"context"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/outcome"
)

// Health returns the state of the service.
func (s *Service) Health() Health {
	h := Health{Started: s.Control.started}
	h.Tools, h.Broken = s.Tools.Health()
	h.Running, h.Draining = s.executor.Load()
	now := s.follower.counts.Load()
	h.Queued, h.Waiting = now.queued, now.waiting
	switch err := s.probe.writable(); {
	case h.Draining:
		h.Reason = outcome.ErrDraining.Error()
	case err != nil:
		h.Reason = err.Error()
	default:
		h.Ready = true
	}
	return h
}

// OpenRuns returns how many runs of a Store have not ended, and how many of these are queued. Both
// are 0 if the Store cannot be read.
func OpenRuns(store history.Store) (open, queued int) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	runs, _ := store.Runs(ctx, history.Query{Open: true})
	return len(runs), countRuns(runs).queued
}

// probe checks whether anything can be recorded.
type probe struct {
	check func(context.Context) error // Config.Writable

	mu         sync.Mutex
	probed     time.Time
	unwritable error
}

// writable returns the reason why nothing can be recorded. The result is kept for a second,
// because anyone may ask.
func (p *probe) writable() error {
	if p.check == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.probed) > time.Second {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		p.probed, p.unwritable = now, p.check(ctx)
	}
	return p.unwritable
}
