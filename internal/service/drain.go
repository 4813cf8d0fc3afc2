package service

import "time"

// Drain stops the service: it begins nothing any more, and whoever watches is told that
// there is nothing more. Steps that run may take wait to end; then, or when hurry is
// closed, they are stopped, after hurry without a grace. Runs that have not ended by then
// are let go, for the next service to go on with. Drain returns when none is left in this
// process; how many were let go is the answer. It is called once.
func (s *Service) Drain(wait time.Duration, hurry <-chan struct{}) (left int) {
	s.mu.Lock()
	s.draining = true
	under := len(s.runs)
	s.mu.Unlock()
	s.Log.Info("stopping", "runs", under, "drain", wait.String())
	s.feed.close()
	close(s.gently)
	done := make(chan struct{})
	go func() {
		s.work.Wait()
		close(done)
	}()
	patience := time.NewTimer(wait)
	defer patience.Stop()
	select {
	case <-done:
	case <-patience.C:
	case <-hurry:
	}
	close(s.now)
	select {
	case <-done:
	case <-hurry:
		close(s.force)
		<-done
	}
	close(s.quit)
	s.looks.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}
