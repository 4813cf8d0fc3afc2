package dag

import (
	"fmt"
	"time"
)

// A node with a Claim needs something that runs share, before each attempt. A worker without
// a slot asks Options.Acquire for it, and the attempt starts when it has it and there is a
// slot. Nothing of this is recorded: a run that is resumed asks again.

// claimState is how far a node has come with the claim for its next attempt.
type claimState uint8

const (
	unclaimed claimState = iota
	claiming             // a worker asks for it
	claimed              // the next attempt can start
)

// These kinds are applied and never recorded.
const (
	stepClaiming Kind = "step.claiming" // a worker asks for what the node claims
	stepClaimed  Kind = "step.claimed"  // it has it, or a cancel has ended the wait
)

// claims reports whether the next attempt of a node needs something that it does not have.
func (s *State) claims(at place) bool {
	return s.acquires && at.f.def(at.i).Claim != nil && at.f.node(at.i).claim == unclaimed
}

// applyClaim applies the end of a wait for a claim: the node is ready again.
func (s *State) applyClaim(at place, got bool) {
	n := at.f.node(at.i)
	if n.claim = unclaimed; got {
		n.claim = claimed
	}
	switch n.status {
	case Pending:
		s.enqueue(at.f, at.i)
	case Retrying:
		s.addTimer(timer{due: s.now, at: at, attempt: n.attempt})
	}
}

// claim makes a worker ask for what a node claims.
func (m *machine) claim(e Event, now time.Time) {
	e.Seq, e.Time = m.seq, now
	m.state.apply(&e)
	m.tasks = append(m.tasks, m.newTask(task{at: e.at, scope: e.at.scope(), attempt: e.Attempt, claims: true}))
}

// claimEnded is called when a worker has what a node claims, or was stopped. After a cancel the
// node is decided about again. If there is no time left at all, its attempt starts without the
// claim, and ends at once.
func (m *machine) claimEnded(t *task, now time.Time) {
	if t.release != nil {
		if m.claimed == nil {
			m.claimed = map[place]func(){}
		}
		m.claimed[t.at] = t.release
	}
	got := t.release != nil || t.scope.kind != walking
	m.state.apply(&Event{Kind: stepClaimed, Seq: m.seq, Time: now, at: t.at, claimed: got})
}

// unclaim has a worker give back what a node has claimed that does not start after all.
func (m *machine) unclaim(at place) {
	if release := m.takeClaim(at); release != nil {
		m.tasks = append(m.tasks, m.newTask(task{at: at, releases: true, release: release}))
	}
}

// takeClaim returns the function that gives back the claim of a node, nil if it has none.
func (m *machine) takeClaim(at place) func() {
	release := m.claimed[at]
	delete(m.claimed, at)
	return release
}

// dropClaims gives back what is still claimed at the end of Run.
func (m *machine) dropClaims(unread []*task) {
	for _, t := range unread {
		if (t.claims || t.releases) && t.release != nil {
			t.release()
		}
	}
	for _, release := range m.claimed {
		release()
	}
}

// acquire asks for what the node of a task claims.
func (p *pool) acquire(t *task) {
	defer func() {
		if v := recover(); v != nil {
			t.err = fmt.Errorf("panic: %v", v)
		}
	}()
	release, err := p.acquires(t.ctx, t.at.f.path(t.at.i), t.at.f.def(t.at.i).Claim)
	switch {
	case err == nil:
		t.release = release
	case t.ctx.Err() == nil:
		t.err = err
	}
}
