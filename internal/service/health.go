package service

import (
	"context"
	"github.com/flowrun/flowrun/history"
	"time"
)

// Health implements API.
func (s *Service) Health() Health {
	h := Health{Started: s.started}
	h.Tools, h.Broken = s.plans.health()
	s.mu.Lock()
	h.Running, h.Queued, h.Waiting, h.Draining = len(s.runs), s.counts.queued, s.counts.waiting, s.draining
	s.mu.Unlock()
	switch err := s.writable(); {
	case h.Draining:
		h.Reason = ErrDraining.Error()
	case err != nil:
		h.Reason = err.Error()
	default:
		h.Ready = true
	}
	return h
}

// OpenRuns returns how many runs of the state directory have not ended, and how many of
// these are queued. Both are 0 if the Store cannot be read.
func (s *Service) OpenRuns() (open, queued int) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	runs, _ := s.Store.Runs(ctx, history.Query{Open: true})
	return len(runs), countRuns(runs).queued
}

// writable returns the reason why nothing can be recorded. The result is kept for a second,
// because anyone may ask.
func (s *Service) writable() error {
	if s.Writable == nil {
		return nil
	}
	s.probing.Lock()
	defer s.probing.Unlock()
	if now := time.Now(); now.Sub(s.probed) > time.Second {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		s.probed, s.unwritable = now, s.Writable(ctx)
	}
	return s.unwritable
}
