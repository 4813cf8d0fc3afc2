package proc

import "github.com/flowrun/flowrun/internal/procid"

// processSet is what is known of the processes of a step, or of a whole run. It grows
// with every look: a process once seen to belong stays known, and so does what
// descends from it, also after the ones in between have ended.
type processSet struct {
	markBelongs func(string) bool // says whether a mark counts; nil: none does
	step        string            // the step's path; "" for every step

	seen    map[int]uint64 // pid to start time
	leaders map[int]uint64 // of groups and sessions, dead ones too, to start time
}

// noStartTime stands for the start time of a leader whose number is free again: a
// living process of that number is a stranger, and so is its group.
const noStartTime = 0

func newProcessSet(mark func(string) bool, step string) *processSet {
	return &processSet{markBelongs: mark, step: step, seen: map[int]uint64{}, leaders: map[int]uint64{}}
}

// add takes a process into the trail.
func (s *processSet) add(e *procid.Entry) {
	s.seen[e.PID] = e.Start
	if e.PID == e.Group || e.PID == e.Session {
		s.leaders[e.PID] = e.Start
	}
}

// update finds what belongs to the trail in a look, and learns from it. The
// living come back. spare are numbers that never belong: this process's own.
func (s *processSet) update(table procid.Table, exempt func(*procid.Entry) bool) []procid.Entry {
	s.dropReusedPIDs(table)
	inside := make([]bool, len(table))
	for grew := true; grew; {
		grew = false
		for i := range table {
			e := &table[i]
			if inside[i] || !s.owns(e) || exempt(e) {
				continue
			}
			inside[i], grew = true, true
			s.add(e)
		}
	}
	var alive []procid.Entry
	for i := range table {
		if inside[i] && !table[i].Dead() {
			alive = append(alive, table[i])
		}
	}
	return alive
}

func (s *processSet) owns(e *procid.Entry) bool {
	if start, ok := s.seen[e.PID]; ok {
		return start == e.Start
	}
	if _, ok := s.seen[e.Parent]; ok {
		return true
	}
	if _, ok := s.leaders[e.Group]; ok {
		return true
	}
	if _, ok := s.leaders[e.Session]; ok {
		return true
	}
	return s.hasMark(e)
}

func (s *processSet) hasMark(e *procid.Entry) bool {
	return s.markBelongs != nil && s.markBelongs(e.Mark) && (s.step == "" || e.Step == s.step)
}

// dropReusedPIDs drops numbers that now name another process.
func (s *processSet) dropReusedPIDs(table procid.Table) {
	for i := range table {
		e := &table[i]
		if start, ok := s.seen[e.PID]; ok && start != e.Start {
			delete(s.seen, e.PID)
		}
		if start, ok := s.leaders[e.PID]; ok && start != e.Start {
			delete(s.leaders, e.PID)
		}
	}
}
