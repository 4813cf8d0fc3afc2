package executor

import "time"

// Drain stops the executor. It starts no further runs and closes the feed. Running steps have the
// time wait to end; after that, or when hurry is closed, they are stopped. If hurry is closed, they
// get no grace period. Runs that have not ended by then are released, and the next service resumes
// them. Drain returns when this process executes no run any more, and reports how many runs it
// released. It must be called only once.
func (x *Executor) Drain(wait time.Duration, hurry <-chan struct{}) (left int) {
	x.mu.Lock()
	x.draining = true
	active := len(x.runs)
	x.mu.Unlock()
	x.Log.Info("stopping", "runs", active, "drain", wait.String())
	x.Feed.Close()
	close(x.drainStarted)
	done := make(chan struct{})
	go func() {
		x.work.Wait()
		close(done)
	}()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-hurry:
	}
	close(x.drainOver)
	select {
	case <-done:
	case <-hurry:
		close(x.force)
		<-done
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.released
}
