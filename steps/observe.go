package steps

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/systrace"
)

// startTracer starts to listen for processes that are observed, if Options.Observe demands it.
func (s *Session) startTracer() error {
	if s.options.Observe == nil {
		return nil
	}
	dir, err := s.folder()
	if err != nil {
		return err
	}
	if s.tracer, err = systrace.Listen(dir, s.options.Observe); err != nil {
		return fmt.Errorf("cannot observe the steps of the run: %w", err)
	}
	return nil
}

// traceFolder returns the folder of the tracer, "" if processes are not observed.
func (s *Session) traceFolder() string {
	if s.tracer == nil {
		return ""
	}
	return s.private
}

// Observe reports something that flowrun does for a step, such as a request of a script.
func (s *Session) Observe(a systrace.Access) {
	if s.options.Observe != nil {
		s.options.Observe(a)
	}
}

// Observed reports whether Options.Observe is set. Permissions are not enforced then.
func (s *Session) Observed() bool { return s.options.Observe != nil }
