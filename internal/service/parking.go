package service

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
)

// resumeRetryDelay is the delay before the service attempts again to resume a run that it could
// not resume: what was missing may be available by then.
const resumeRetryDelay = 5 * time.Minute

// Parking knows the interrupted runs that the service leaves to people. Safe for concurrent use.
type Parking struct {
	log  *slog.Logger
	mu   sync.Mutex
	runs map[string]parkedRun
}

// parkedRun describes an interrupted run that the service leaves to people.
type parkedRun struct {
	why   string
	until time.Time // when the next attempt is made; zero: not before a person resumes the run
}

// park leaves a run to people. It logs each reason once.
func (p *Parking) park(info history.RunInfo, err error) {
	r := parkedRun{why: err.Error()}
	if !errors.Is(err, errCrashLoop) {
		r.until = time.Now().Add(resumeRetryDelay)
	}
	p.mu.Lock()
	known := p.runs[info.ID].why == r.why
	p.runs[info.ID] = r
	p.mu.Unlock()
	if !known {
		p.log.Warn("run stays interrupted until a person resumes it", "run", info.ID, "tool", info.Tool, "origin", info.Origin, "reason", r.why)
	}
}

// NeedsPerson reports whether an interrupted run is left to people.
func (p *Parking) NeedsPerson(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, there := p.runs[id]
	return there
}

// holds reports whether the service does not attempt to resume the run for now.
func (p *Parking) holds(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, there := p.runs[id]
	return there && (r.until.IsZero() || time.Now().Before(r.until))
}

// keepOnly removes the runs that are no longer interrupted or waiting.
func (p *Parking) keepOnly(orphans map[string]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.runs {
		if !orphans[id] {
			delete(p.runs, id)
		}
	}
}
