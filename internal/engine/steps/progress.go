package steps

import (
	"strconv"

	"github.com/flowrun/flowrun/dag"
)

// Progress says how far an attempt of a step is.
type Progress struct {
	Step    dag.ID
	Attempt int
	Done    float64
	Total   float64 // 0: unknown
	Message string  // what is being done; may be empty
}

// String returns it as a text such as "3 of 10: reading".
func (p Progress) String() string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	switch {
	case p.Total > 0 && p.Message != "":
		return number(p.Done) + " of " + number(p.Total) + ": " + p.Message
	case p.Total > 0:
		return number(p.Done) + " of " + number(p.Total)
	case p.Message != "":
		return p.Message
	}
	return number(p.Done)
}

// maxReports is how many reports of progress may wait for a slow receiver. Then the oldest is dropped.
const maxReports = 64

// Progress passes on how far a running step is, with secrets masked: to Options.Progress, otherwise as a line to
// Options.Console. It does not wait for the receiver.
func (s *Session) Progress(p Progress) {
	if s.options.Progress == nil && s.options.Console == nil {
		return
	}
	p.Message = s.mask.String(p.Message)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.reports) == maxReports {
		s.reports = s.reports[1:]
	}
	s.reports = append(s.reports, p)
	if !s.reporting {
		s.reporting = true
		s.relays.Go(s.deliverReports)
	}
}

// deliverReports delivers the reports that wait.
func (s *Session) deliverReports() {
	for {
		s.mu.Lock()
		if len(s.reports) == 0 {
			s.reporting = false
			s.mu.Unlock()
			return
		}
		p := s.reports[0]
		s.reports = s.reports[1:]
		s.mu.Unlock()
		s.deliverReport(p)
		s.delivered.Add(1)
	}
}

func (s *Session) deliverReport(p Progress) {
	s.delivering.Lock()
	defer s.delivering.Unlock()
	if s.options.Progress != nil {
		s.options.Progress(p)
		return
	}
	s.options.Console(Chunk{Step: p.Step, Attempt: p.Attempt, Stream: Stderr, Text: []byte(p.String() + "\n")})
}
