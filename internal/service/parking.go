package service

import (
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
)

// resumeRetryDelay is the delay before the service attempts again to resume a run that it could
// not resume: what was missing may be available by then.
const resumeRetryDelay = 5 * time.Minute

// Parking knows the interrupted runs that the service leaves to people. Package attention logs them. Safe for concurrent
// use.
type Parking struct {
	mu   sync.Mutex
	runs map[string]parkedRun
}

// parkedRun describes an interrupted run that the service leaves to people.
type parkedRun struct {
	why   error
	until time.Time // when the next attempt is made; zero: not before a person resumes the run
}

// park leaves a run to people.
func (p *Parking) park(info history.RunInfo, err error) {
	r := parkedRun{why: err}
	if !errors.Is(err, errCrashLoop) {
		r.until = time.Now().Add(resumeRetryDelay)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs[info.ID] = r
}

// NeedsPerson reports whether an interrupted run is left to people.
func (p *Parking) NeedsPerson(id string) bool { return p.Why(id) != nil }

// Why returns why an interrupted run is left to people, nil if it is not.
func (p *Parking) Why(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runs[id].why
}

// summary returns a number that differs if other runs have not ended, or if one of them has another status or owner, or is left
// to people for another reason.
func (p *Parking) summary(open []history.RunInfo) uint64 {
	h := fnv.New64a()
	for _, info := range open {
		fmt.Fprintln(h, info.ID, info.Status, info.Epoch, info.Answered, p.Why(info.ID))
	}
	return h.Sum64()
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
