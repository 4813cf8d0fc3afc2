package proc

import "github.com/flowrun/flowrun/internal/procid"

// trail is what is known of the processes of a step, or of a whole run. It grows
// with every look: a process once seen to belong stays known, and so does what
// descends from it, also after the ones in between have ended.
type trail struct {
	mark func(string) bool // says whether a mark counts; nil: none does
	step string            // the step's path; "" for every step

	seen    map[int]uint64 // pid to start time
	leaders map[int]uint64 // of groups and sessions, dead ones too, to start time
}

// reaped stands for the start time of a leader whose number is free again: a
// living process of that number is a stranger, and so is its group.
const reaped = 0

func newTrail(mark func(string) bool, step string) *trail {
	return &trail{mark: mark, step: step, seen: map[int]uint64{}, leaders: map[int]uint64{}}
}

// add takes a process into the trail.
func (t *trail) add(e *procid.Entry) {
	t.seen[e.PID] = e.Start
	if e.PID == e.Group || e.PID == e.Session {
		t.leaders[e.PID] = e.Start
	}
}

// follow finds what belongs to the trail in a look, and learns from it. The
// living come back. spare are numbers that never belong: this process's own.
func (t *trail) follow(look procid.Table, spare func(*procid.Entry) bool) []procid.Entry {
	t.forgetStrangers(look)
	inside := make([]bool, len(look))
	for grew := true; grew; {
		grew = false
		for i := range look {
			e := &look[i]
			if inside[i] || !t.owns(e) || spare(e) {
				continue
			}
			inside[i], grew = true, true
			t.add(e)
		}
	}
	var alive []procid.Entry
	for i := range look {
		if inside[i] && !look[i].Dead() {
			alive = append(alive, look[i])
		}
	}
	return alive
}

func (t *trail) owns(e *procid.Entry) bool {
	if start, ok := t.seen[e.PID]; ok {
		return start == e.Start
	}
	if _, ok := t.seen[e.Parent]; ok {
		return true
	}
	if _, ok := t.leaders[e.Group]; ok {
		return true
	}
	if _, ok := t.leaders[e.Session]; ok {
		return true
	}
	return t.marked(e)
}

func (t *trail) marked(e *procid.Entry) bool {
	return t.mark != nil && t.mark(e.Mark) && (t.step == "" || e.Step == t.step)
}

// forgetStrangers drops numbers that now name another process.
func (t *trail) forgetStrangers(look procid.Table) {
	for i := range look {
		e := &look[i]
		if start, ok := t.seen[e.PID]; ok && start != e.Start {
			delete(t.seen, e.PID)
		}
		if start, ok := t.leaders[e.PID]; ok && start != e.Start {
			delete(t.leaders, e.PID)
		}
	}
}
