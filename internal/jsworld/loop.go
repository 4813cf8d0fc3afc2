package jsworld

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/dop251/goja"
)

// Answer is what came back to a question that a script asked.
type Answer struct {
	ID    uint64
	Value json.RawMessage
	Error *Failure
}

// loop is what a world waits for: answers, and timers. All but answer and abort belongs
// to the world's goroutine.
type loop struct {
	vm     *goja.Runtime
	clock  *Clock
	asks   map[uint64]func(Answer) error // what is done with an answer
	asked  uint64
	timers []*timer // by time, and in the order in which they were set
	set    int64

	mu      sync.Mutex
	answers []Answer
	aborted *Failure
	wake    chan struct{} // holds a token when there is an answer to look at
	stop    chan struct{} // closed when the call is aborted
}

// timer is a function that is called later.
type timer struct {
	id    int64
	at    time.Time
	every time.Duration // 0: once
	call  goja.Callable
}

func newLoop(vm *goja.Runtime) *loop {
	return &loop{vm: vm, asks: map[uint64]func(Answer) error{}, wake: make(chan struct{}, 1), stop: make(chan struct{})}
}

// answer brings an answer.
func (l *loop) answer(a Answer) {
	l.mu.Lock()
	l.answers = append(l.answers, a)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// abort ends the call for the reason why, whatever it is doing; the first reason stands.
func (l *loop) abort(why *Failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.aborted == nil {
		l.aborted = why
		close(l.stop)
		l.vm.Interrupt(why)
	}
}

// revive makes an aborted loop work again, without what it waited for.
func (l *loop) revive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.aborted, l.answers, l.stop = nil, nil, make(chan struct{})
	l.asks, l.timers = map[uint64]func(Answer) error{}, nil
	l.vm.ClearInterrupt()
}

// take is the answer to question id, 0 for any, if it has come; or why there will be none.
func (l *loop) take(id uint64) (a Answer, found bool, why *Failure) {
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

// await waits for the answer to question id, 0 for any, or until the time; there is no
// answer then. The clock stands where the script waits for somebody else.
func (l *loop) await(id uint64, until <-chan time.Time) (a Answer, found bool, why *Failure) {
	for {
		if a, found, why = l.take(id); found || why != nil {
			return a, found, why
		}
		others := len(l.asks) > 0
		if others {
			l.clock.Pause()
		}
		late := false
		select {
		case <-l.wake:
		case <-l.stop:
		case <-until:
			late = true
		}
		if others {
			l.clock.Resume()
		}
		if late {
			return Answer{}, false, nil
		}
	}
}

// ask notes a question, and what is done with its answer.
func (l *loop) ask(then func(Answer) error) (id uint64) {
	l.asked++
	l.asks[l.asked] = then
	return l.asked
}

// run lets timers and answers come until done holds. An error is what the script threw
// meanwhile; a failure, why nothing more can come.
func (l *loop) run(done func() bool) (why *Failure, thrown error) {
	for !done() {
		now := time.Now()
		if len(l.timers) > 0 && !l.timers[0].at.After(now) {
			if err := l.fire(); err != nil {
				return nil, err
			}
			continue
		}
		if len(l.timers)+len(l.asks) == 0 {
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
	then := l.asks[a.ID]
	delete(l.asks, a.ID)
	if then == nil {
		return nil
	}
	return then(a)
}

// setTimer calls a function later, and again and again where it repeats.
func (l *loop) setTimer(call goja.Callable, after time.Duration, repeat bool) int64 {
	l.set++
	t := &timer{id: l.set, at: time.Now().Add(after), call: call}
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

// fire calls the first timer's function.
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
