package proc

import "github.com/flowrun/flowrun/internal/os/procid"

// processSet is what is known of the processes of a step, or of a whole run. It grows with every
// read of the process table: a process that was found once stays known, and so do its descendants,
// even after the processes between them have ended.
type processSet struct {
	markBelongs func(string) bool // reports whether a mark belongs to the set; nil: none does
	step        string            // the step's path; "" for every step

	seen    map[int]uint64 // pid -> start time
	leaders map[int]uint64 // leaders of groups and sessions, including dead ones: pid -> start time
}

// noStartTime is the start time of a leader that was reaped. Its pid is free: a living process with
// that pid does not belong to the set, and neither does its group.
const noStartTime = 0

func newProcessSet(mark func(string) bool, step string) *processSet {
	return &processSet{markBelongs: mark, step: step, seen: map[int]uint64{}, leaders: map[int]uint64{}}
}

// add adds a process to the set.
func (s *processSet) add(e *procid.Entry) {
	s.seen[e.PID] = e.Start
	if e.PID == e.Group || e.PID == e.Session {
		s.leaders[e.PID] = e.Start
	}
}

// update adds the processes of the table that belong to the set, and returns those that are alive.
// It never adds a process for which exempt returns true.
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

// owns reports whether a process belongs to the set: it is known, or its parent, the leader of its
// group or the leader of its session is, or it carries the mark.
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

// dropReusedPIDs forgets pids that now belong to another process.
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
