package service

import "time"

// Drain stops the service. It starts no further runs and closes the channels of all
// subscribers. Running steps have the time wait to end; after that, or when hurry is
// closed, they are stopped. If hurry is closed, they get no grace period. Runs that have
// not ended by then are released, and the next service resumes them. Drain returns when
// this process executes no run any more, and reports how many runs it released. It must be
// called only once.
func (s *Service) Drain(wait time.Duration, hurry <-chan struct{}) (left int) {
	s.mu.Lock()
	s.draining = true
	active := len(s.runs)
	s.mu.Unlock()
	s.Log.Info("stopping", "runs", active, "drain", wait.String())
	s.feed.Close()
	close(s.drainStarted)
	done := make(chan struct{})
	go func() {
		s.work.Wait()
		close(done)
	}()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-hurry:
	}
	close(s.drainOver)
	select {
	case <-done:
	case <-hurry:
		close(s.force)
		<-done
	}
	close(s.stopPolling)
	s.pollers.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.released
}
