package schedule

import (
	"container/heap"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/lang/plural"
)

// Firings stores which times were handled. Services on one state directory share it,
// and it outlives them.
type Firings interface {
	// Watch registers a schedule. For a new schedule, or one with a new plan, it stores
	// since, and times up to it are past. If the schedule is known with the same plan, its
	// stored time is kept. Watch returns the stored time.
	Watch(ctx context.Context, schedule, plan string, since time.Time) (anchor time.Time, err error)
	// Cursor returns the last time that was handled, or the time stored by Watch.
	Cursor(ctx context.Context, schedule string) (last time.Time, ok bool, err error)
	// Claim durably marks a scheduled time as handled by a run with this id. mine is false
	// if the time was handled before. mustEnd is its deadline, zero for none.
	Claim(ctx context.Context, schedule string, slot time.Time, run string, mustEnd time.Time) (mine bool, err error)
	// Skip marks a scheduled time as handled without a run. mustEnd is its deadline, zero for none.
	Skip(ctx context.Context, schedule string, slot time.Time, reason string, mustEnd time.Time) error
}

// Runs is the interface of the loop to runs.
type Runs interface {
	// Active counts the schedule's active runs, and those that are claimed and queued.
	Active(ctx context.Context, s *Schedule) (running, queued int, err error)
	// LastSuccess returns the start of the newest successful run of the tool that the
	// schedule did not start; zero: none. It is called only for SkipIfSuccessful.
	LastSuccess(ctx context.Context, s *Schedule) (time.Time, error)
	// NewID returns the id of a future run.
	NewID() string
	// Start carries out the decision for a claimed time: it starts the run, queues it, or
	// cancels the active runs and starts it. It does not wait for the end of any run. If it
	// fails, the claim has no run; Runs is responsible for those.
	Start(ctx context.Context, f Firing) error
}

// Firing is a scheduled time that has been claimed.
type Firing struct {
	Schedule  Schedule
	Scheduled ScheduledTime
	Run       string // id of the run to start
	Action    Action // Start, Queue or Replace
}

// Kind is the subject of a Report.
type Kind int

// The kinds of reports.
const (
	Fired   Kind = iota // a time was claimed and its run started; see Lag
	Taken               // another service has handled the time
	Skipped             // a time was skipped, see Reason
	Missed              // Count times were too late; Scheduled is the newest
	Failed              // see Err: the schedule is checked again soon, or the claim has no run
	Jumped              // the wall clock was set forward by Lag, or back if it is negative
	Late                // the deadline of a time passed before its run succeeded, see Reason
	Paused              // the schedule was paused after failures, see Reason
)

// MissedPrefix begins the reason of times that were skipped because they were missed.
const MissedPrefix = "missed: "

// Report describes what the loop did.
type Report struct {
	Kind      Kind
	Schedule  string // "" for Jumped
	Scheduled time.Time
	Run       string
	Action    Action
	Late      bool
	Lag       time.Duration // delay of the start
	Count     int
	Reason    string
	Err       error
}

// Config configures a Loop.
type Config struct {
	Store Firings
	Runs  Runs
	// Observe is called with what the loop does, from several goroutines. nil: nothing is
	// called.
	Observe func(Report)
	// Now returns the wall clock. It is called from several goroutines; nil is time.Now.
	Now func() time.Time
}

const (
	maxSleep       = time.Minute     // the longest sleep: the wall clock may have been set
	retryDelay     = 5 * time.Second // after an error of the Firings or of Runs
	clockTolerance = 2 * time.Second // a smaller difference between the clocks is ignored
	maxConcurrent  = 512             // schedules that are handled concurrently, so that they can share commits
)

// Loop fires schedules. Set may be called at any time, Run only once.
type Loop struct {
	Config
	wake  chan struct{} // wakes Run after a change
	slots chan struct{} // one place for each schedule that is being handled
	work  sync.WaitGroup

	mu      sync.Mutex
	entries map[string]*entry
	queue   entryHeap
}

// entry is a schedule in the loop. While busy is set, the goroutine that handles the
// schedule owns all other fields but changed. Otherwise they are protected by the lock.
type entry struct {
	Schedule
	plan    string
	watched bool      // the store has been read; cursor is valid
	cursor  time.Time // the last time that was handled
	resumed time.Time // when the schedule was unpaused; earlier times are not late
	// caughtUp is how many times of the current catch-up have fired.
	caughtUp int
	wake     time.Time // when to check it; zero: never
	busy     bool      // a goroutine handles it
	changed  *Schedule // replaces the schedule when that goroutine is done
}

// New creates a loop without schedules.
func New(c Config) *Loop {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Observe == nil {
		c.Observe = func(Report) {}
	}
	return &Loop{Config: c, wake: make(chan struct{}, 1), slots: make(chan struct{}, maxConcurrent), entries: map[string]*entry{}}
}

// wall returns the wall clock without its monotonic part, so that times are compared by
// what they show.
func (l *Loop) wall() time.Time { return l.Now().Round(0) }

// Set replaces the schedules. A schedule with the same name and plan keeps its position.
func (l *Loop) Set(list []Schedule) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.entries
	l.entries, l.queue = map[string]*entry{}, nil
	for _, s := range list {
		old := before[s.Name]
		if old != nil && old.busy {
			old.changed = &s
			l.entries[s.Name] = old
			continue
		}
		l.replace(s, old)
	}
	l.wakeUp()
}

// replace adds a schedule, in place of old if that is not nil.
func (l *Loop) replace(s Schedule, old *entry) {
	now := l.wall()
	e := &entry{Schedule: s, plan: s.Plan(), wake: now}
	if !s.Start.IsZero() {
		e.Spec = s.Spec.From(s.Start)
	}
	if old != nil {
		e.inheritPosition(old, now)
	}
	l.entries[s.Name] = e
	l.enqueue(e)
}

// inheritPosition copies the position of the entry that e replaces.
func (e *entry) inheritPosition(old *entry, now time.Time) {
	if e.resumed = old.resumed; old.Paused {
		e.resumed = now
	}
	if old.plan == e.plan && old.watched {
		e.watched, e.Spec = true, old.Spec
		e.cursor = latest(old.cursor, e.resumed)
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// enqueue adds an entry to the queue at its time.
func (l *Loop) enqueue(e *entry) {
	if !e.wake.IsZero() && !e.Paused {
		heap.Push(&l.queue, e)
	}
}

func (l *Loop) wakeUp() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run fires schedules until ctx ends. It returns when all started work has ended.
func (l *Loop) Run(ctx context.Context) {
	defer l.work.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	clocks := l.clocks()
	for {
		clocks = l.checkClocks(clocks)
		for e := l.pop(); e != nil; e = l.pop() {
			select {
			case l.slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			l.work.Go(func() {
				l.handle(ctx, e)
				<-l.slots
			})
		}
		timer.Reset(l.sleep())
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		case <-timer.C:
		}
	}
}

// pop removes the next entry that is due from the queue.
func (l *Loop) pop() *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 || l.queue[0].wake.After(l.wall()) {
		return nil
	}
	e := heap.Pop(&l.queue).(*entry)
	e.busy = true
	return e
}

func (l *Loop) sleep() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return maxSleep
	}
	return min(maxSleep, max(0, l.queue[0].wake.Sub(l.wall())))
}

// clocks holds the wall clock and the monotonic clock at one moment.
type clocks struct{ wall, mono time.Time }

func (l *Loop) clocks() clocks { return clocks{l.wall(), time.Now()} }

// checkClocks checks whether the wall clock was set since the last call.
func (l *Loop) checkClocks(before clocks) clocks {
	now := l.clocks()
	by := now.wall.Sub(before.wall) - now.mono.Sub(before.mono)
	if by.Abs() < clockTolerance {
		return now
	}
	l.Observe(Report{Kind: Jumped, Lag: by})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = nil
	for _, e := range l.entries {
		if !e.busy {
			e.wake = now.wall
			l.enqueue(e)
		}
	}
	return now
}

// handle handles one schedule that is due, and adds it to the queue again.
func (l *Loop) handle(ctx context.Context, e *entry) {
	now := l.wall()
	wake, err := l.fireDue(ctx, e, now)
	if err != nil && ctx.Err() == nil {
		l.Observe(Report{Kind: Failed, Schedule: e.Name, Err: err})
		wake = now.Add(retryDelay)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e.busy, e.wake = false, wake
	switch {
	case l.entries[e.Name] != e: // it was removed meanwhile
	case e.changed != nil:
		l.replace(*e.changed, e)
	default:
		l.enqueue(e)
	}
	l.wakeUp()
}

// fireDue does what is due and returns when to check again. Times that could not be handled
// stay after the cursor and are found again.
func (l *Loop) fireDue(ctx context.Context, e *entry, now time.Time) (wake time.Time, err error) {
	if err := l.watch(ctx, e, now); err != nil {
		return wake, err
	}
	cursor := e.cursor
	if cursor.After(now) {
		cursor = now // the clock was set back; what fired stays claimed
	}
	due := Due(&e.Schedule, cursor, now)
	if due.late() { // another service may have handled them while this one slept
		last, _, err := l.Store.Cursor(ctx, e.Name)
		if err != nil {
			return wake, err
		}
		if !last.After(now) {
			cursor = latest(cursor, last)
			due = Due(&e.Schedule, cursor, now)
		}
	}
	if due.Missed > 0 {
		reason := fmt.Sprintf(MissedPrefix+"no service was running in time (catch-up %s); %s up to this one", e.catchUp(), plural.Of(due.Missed, "time"))
		if err := l.skipMissed(ctx, e, due, reason); err != nil {
			return wake, err
		}
		cursor = due.LastMissed
		l.Observe(Report{Kind: Missed, Schedule: e.Name, Scheduled: due.LastMissed, Count: due.Missed, Late: true, Reason: reason})
	}
	e.cursor = cursor
	for _, slot := range due.Fire {
		if err := l.fire(ctx, e, slot); err != nil {
			return wake, err
		}
		e.cursor = slot.At
	}
	e.caughtUp = 0
	return due.Next, nil
}

// skipMissed records the newest missed time for all of them, and with a deadline each of the newest:
// their deadlines are checked.
func (l *Loop) skipMissed(ctx context.Context, e *entry, due Now, reason string) error {
	if e.MustEndBy.IsSet() {
		for _, at := range due.NewestMissed {
			if err := l.Store.Skip(ctx, e.Name, at, reason, e.MustEndBy.Of(at)); err != nil {
				return err
			}
		}
	}
	return l.Store.Skip(ctx, e.Name, due.LastMissed, reason, time.Time{})
}

func (s *Schedule) catchUp() CatchUp {
	if s.CatchUp == "" {
		return CatchUpOnce
	}
	return s.CatchUp
}

// watch reads the position of the schedule from the store, once.
func (l *Loop) watch(ctx context.Context, e *entry, now time.Time) error {
	if e.watched {
		return nil
	}
	anchor, err := l.Store.Watch(ctx, e.Name, e.plan, now)
	if err != nil {
		return err
	}
	cursor, ok, err := l.Store.Cursor(ctx, e.Name)
	if err != nil {
		return err
	}
	if !ok {
		cursor = anchor
	}
	if e.Start.IsZero() {
		e.Spec = e.Spec.From(anchor)
	}
	e.cursor, e.watched = latest(cursor, e.resumed), true
	return nil
}

// fire handles one scheduled time. On error the time has not been handled.
func (l *Loop) fire(ctx context.Context, e *entry, slot ScheduledTime) error {
	action, reason, err := l.decide(ctx, e, slot)
	if err != nil {
		return err
	}
	report := Report{Schedule: e.Name, Scheduled: slot.At, Action: action, Late: slot.Late, Reason: reason}
	if action == Skip {
		report.Kind = Skipped
		mustEnd := e.MustEndBy.Of(slot.At)
		if reason == WhySatisfied {
			mustEnd = time.Time{}
		}
		err := l.Store.Skip(ctx, e.Name, slot.At, reason, mustEnd)
		if err == nil {
			l.Observe(report)
		}
		return err
	}
	report.Run = l.Runs.NewID()
	mine, err := l.Store.Claim(ctx, e.Name, slot.At, report.Run, e.MustEndBy.Of(slot.At))
	switch {
	case err != nil:
		return err
	case !mine:
		report.Kind, report.Run = Taken, ""
	default:
		if err := l.Runs.Start(ctx, Firing{Schedule: e.Schedule, Scheduled: slot, Run: report.Run, Action: action}); err != nil {
			report.Kind, report.Err = Failed, err
		}
		report.Lag = l.wall().Sub(slot.Due)
		if slot.Late {
			e.caughtUp++
		}
	}
	l.Observe(report)
	return nil
}

func (l *Loop) decide(ctx context.Context, e *entry, slot ScheduledTime) (Action, string, error) {
	if e.SkipIfSuccessful {
		success, err := l.Runs.LastSuccess(ctx, &e.Schedule)
		if err != nil {
			return Skip, "", err
		}
		if Satisfied(&e.Schedule, slot.At, success) {
			return Skip, WhySatisfied, nil
		}
	}
	running, queued, err := l.Runs.Active(ctx, &e.Schedule)
	if err != nil {
		return Skip, "", err
	}
	caughtUp := 0
	if slot.Late {
		caughtUp = e.caughtUp
	}
	action, reason := Decide(e.Overlap, caughtUp, running, queued)
	return action, reason, nil
}

// entryHeap is a heap of the entries by their time.
type entryHeap []*entry

func (h entryHeap) Len() int           { return len(h) }
func (h entryHeap) Less(i, j int) bool { return h[i].wake.Before(h[j].wake) }
func (h entryHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *entryHeap) Push(x any)        { *h = append(*h, x.(*entry)) }
func (h *entryHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	*h = old[:len(old)-1]
	return e
}
