package jsworld

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/dop251/goja"
)

// Answer is the reply to a host call.
type Answer struct {
	ID    uint64
	Value json.RawMessage
	Error *Failure
}

// loop is the event loop of a world: it waits for answers and timers. Its methods must be called
// from the goroutine of the world, except answer and abort, which are safe for concurrent use.
type loop struct {
	vm        *goja.Runtime
	clock     *Clock
	pending   map[uint64]func(Answer) error // by id: called with the answer; nil for a synchronous call
	lastCall  uint64
	timers    []*timer // sorted by time; timers of equal time in the order in which they were set
	lastTimer int64

	mu      sync.Mutex
	answers []Answer
	aborted *Failure
	wake    chan struct{} // holds a token when answers are available
	stop    chan struct{} // closed when the call is aborted
}

// timer is a function to be called at a time.
type timer struct {
	id    int64
	at    time.Time
	every time.Duration // 0: once
	call  goja.Callable
}

func newLoop(vm *goja.Runtime) *loop {
	return &loop{vm: vm, pending: map[uint64]func(Answer) error{}, wake: make(chan struct{}, 1), stop: make(chan struct{})}
}

// answer queues an answer and wakes the loop.
func (l *loop) answer(a Answer) {
	l.mu.Lock()
	l.answers = append(l.answers, a)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// abort ends the call because of why, whatever it is doing. Only the first reason counts.
func (l *loop) abort(why *Failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.aborted == nil {
		l.aborted = why
		close(l.stop)
		l.vm.Interrupt(why)
	}
}

// revive makes an aborted loop usable again. Pending host calls and timers are dropped.
func (l *loop) revive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.aborted, l.answers, l.stop = nil, nil, make(chan struct{})
	l.pending, l.timers = map[uint64]func(Answer) error{}, nil
	l.vm.ClearInterrupt()
}

// takeAnswer removes and returns the answer to host call id, or any answer if id is 0. found is
// false if it has not arrived; why is set if the call was aborted.
func (l *loop) takeAnswer(id uint64) (a Answer, found bool, why *Failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.answers, func(a Answer) bool { return id == 0 || a.ID == id })
	if i < 0 || l.aborted != nil {
		return Answer{}, false, l.aborted
	}
	a = l.answers[i]
	l.answers = slices.Delete(l.answers, i, i+1)
	return a, true, nil
}

// await waits for the answer to host call id, or any answer if id is 0. It returns without an
// answer when until fires. The clock is paused while host calls are pending.
func (l *loop) await(id uint64, until <-chan time.Time) (a Answer, found bool, why *Failure) {
	for {
		if a, found, why = l.takeAnswer(id); found || why != nil {
			return a, found, why
		}
		callsPending := len(l.pending) > 0
		if callsPending {
			l.clock.Pause()
		}
		timedOut := false
		select {
		case <-l.wake:
		case <-l.stop:
		case <-until:
			timedOut = true
		}
		if callsPending {
			l.clock.Resume()
		}
		if timedOut {
			return Answer{}, false, nil
		}
	}
}

// addPending registers a host call and what is done with its answer, and returns its id.
func (l *loop) addPending(then func(Answer) error) (id uint64) {
	l.lastCall++
	l.pending[l.lastCall] = then
	return l.lastCall
}

// run processes timers and answers until done returns true. thrown is what the script threw
// meanwhile; why is set if done can never become true.
func (l *loop) run(done func() bool) (why *Failure, thrown error) {
	for !done() {
		now := time.Now()
		if len(l.timers) > 0 && !l.timers[0].at.After(now) {
			if err := l.fire(); err != nil {
				return nil, err
			}
			continue
		}
		if len(l.timers)+len(l.pending) == 0 {
			return Failed(KindThrown, "the script awaits a promise that is never settled"), nil
		}
		a, found, why := l.wait(now)
		if why != nil {
			return why, nil
		}
		if !found {
			continue
		}
		if err := l.settle(a); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// wait waits for the next answer or timer.
func (l *loop) wait(now time.Time) (Answer, bool, *Failure) {
	if len(l.timers) == 0 {
		return l.await(0, nil)
	}
	t := time.NewTimer(l.timers[0].at.Sub(now))
	defer t.Stop()
	return l.await(0, t.C)
}

func (l *loop) settle(a Answer) error {
	then := l.pending[a.ID]
	delete(l.pending, a.ID)
	if then == nil {
		return nil
	}
	return then(a)
}

// setTimer calls a function after a delay, and repeatedly if repeat is set.
func (l *loop) setTimer(call goja.Callable, after time.Duration, repeat bool) int64 {
	l.lastTimer++
	t := &timer{id: l.lastTimer, at: time.Now().Add(after), call: call}
	if repeat {
		t.every = after
	}
	l.insert(t)
	return t.id
}

func (l *loop) insert(t *timer) {
	i, _ := slices.BinarySearchFunc(l.timers, t, func(e, t *timer) int {
		if e.at.After(t.at) {
			return 1
		}
		return -1
	})
	l.timers = slices.Insert(l.timers, i, t)
}

func (l *loop) clearTimer(id int64) {
	l.timers = slices.DeleteFunc(l.timers, func(t *timer) bool { return t.id == id })
}

// fire calls the function of the first timer.
func (l *loop) fire() error {
	t := l.timers[0]
	l.timers = l.timers[1:]
	if t.every > 0 {
		t.at = time.Now().Add(t.every)
		l.insert(t)
	}
	_, err := t.call(goja.Undefined())
	return err
}
