package schedule

import (
	"container/heap"
	"context"
	"fmt"
	"sync"
	"time"
)

// FiringStore keeps which slots were dealt with. Services on one state directory share it, and
// it outlives them.
type FiringStore interface {
	// Watch begins to look at a schedule: since is remembered for it, and slots up to it
	// are past. One that is known by the same plan keeps what is known; one of another plan begins
	// anew. It answers since when the schedule is looked at.
	Watch(ctx context.Context, schedule, plan string, since time.Time) (anchor time.Time, err error)
	// Cursor is the last slot that was dealt with, or since when the schedule is looked at.
	Cursor(ctx context.Context, schedule string) (last time.Time, ok bool, err error)
	// Claim deals with a slot by a run that is to have this id, durably. mine is false where
	// the slot was dealt with before.
	Claim(ctx context.Context, schedule string, slot time.Time, run string) (mine bool, err error)
	// Skip deals with a slot without a run.
	Skip(ctx context.Context, schedule string, slot time.Time, reason string) error
}

// Runs is what the loop asks and tells of runs.
type Runs interface {
	// Active counts the schedule's runs that are under way, and those that were claimed and
	// wait for their turn.
	Active(ctx context.Context, s *Schedule) (running, queued int, err error)
	// LastSuccess is the beginning of the newest run of the tool that succeeded and was not
	// begun by the schedule; zero: none. It is asked for SkipIfSuccessful alone.
	LastSuccess(ctx context.Context, s *Schedule) (time.Time, error)
	// NewID makes the id of a run that is to be.
	NewID() string
	// Start carries out what was decided for a slot that has been claimed: it begins the
	// run, puts it in line, or cancels those under way and begins it. It does not wait for
	// any run's end. When it fails the claim stands without a run; Runs looks after those.
	Start(ctx context.Context, f Firing) error
}

// Firing is a slot that has been claimed.
type Firing struct {
	Schedule  Schedule
	Scheduled ScheduledTime
	Run       string // the id the run is to have
	Action    Action // Start, Queue or Replace
}

// Kind is what a Report tells of.
type Kind int

// The kinds of reports.
const (
	Fired   Kind = iota // a slot was claimed and started, with Lag
	Taken               // another service has dealt with the slot
	Skipped             // a slot was left out, for Reason
	Missed              // Count slots were too late; Slot is the newest
	Failed              // Err: the schedule is looked at again soon, or the claim stands without a run
	Jumped              // the wall clock was set by Lag, forward or, below 0, back
)

// Report tells what the loop did.
type Report struct {
	Kind      Kind
	Schedule  string // "" for Jumped
	Scheduled time.Time
	Run       string
	Action    Action
	Late      bool
	Lag       time.Duration // from when the slot should have started to when it did
	Count     int
	Reason    string
	Err       error
}

// Config is what a Loop needs.
type Config struct {
	Store FiringStore
	Runs  Runs
	// Observe hears what the loop does, from several goroutines. nil: nobody does.
	Observe func(Report)
	// Now is the wall clock, asked from several goroutines; nil is time.Now.
	Now func() time.Time
}

const (
	lookAgain = time.Minute     // the longest sleep: the wall clock may have been set
	retryIn   = 5 * time.Second // after the Book or Runs failed
	jump      = 2 * time.Second // what the clocks may differ by and be nothing to speak of
	atOnce    = 512             // schedules dealt with at a time, so that commits can be shared
)

// Loop fires schedules. Set may be called at any time; Run once.
type Loop struct {
	Config
	wake chan struct{} // something below has changed
	room chan struct{} // one place for each schedule that is being dealt with
	work sync.WaitGroup

	mu      sync.Mutex
	entries map[string]*entry
	line    line
}

// entry is a schedule in the loop. While it is busy, all but busy and changed belong to the
// goroutine that deals with it; else to whoever holds the lock.
type entry struct {
	Schedule
	plan    string
	watched bool      // the book has been asked; cursor is good
	cursor  time.Time // the last slot that was dealt with
	resumed time.Time // when it was paused no more; what passed before is not late
	wake    time.Time // when to look at it; zero: never
	busy    bool      // a goroutine deals with it
	changed *Schedule // what it becomes when that is done
}

// New makes a loop without schedules.
func New(c Config) *Loop {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Observe == nil {
		c.Observe = func(Report) {}
	}
	return &Loop{Config: c, wake: make(chan struct{}, 1), room: make(chan struct{}, atOnce), entries: map[string]*entry{}}
}

// wall is the wall clock without the monotonic one: times are compared by what they show.
func (l *Loop) wall() time.Time { return l.Now().Round(0) }

// Set replaces the schedules. One that stays, by name and plan, goes on where it is.
func (l *Loop) Set(list []Schedule) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.entries
	l.entries, l.line = map[string]*entry{}, nil
	for _, s := range list {
		old := before[s.Name]
		if old != nil && old.busy {
			old.changed = &s
			l.entries[s.Name] = old
			continue
		}
		l.take(s, old)
	}
	l.stir()
}

// take puts a schedule in the place of another, or of none.
func (l *Loop) take(s Schedule, old *entry) {
	now := l.wall()
	e := &entry{Schedule: s, plan: s.Plan(), wake: now}
	if !s.Start.IsZero() {
		e.Spec = s.Spec.From(s.Start)
	}
	if old != nil {
		e.follow(old, now)
	}
	l.entries[s.Name] = e
	l.enqueue(e)
}

// follow takes over where the entry before is.
func (e *entry) follow(old *entry, now time.Time) {
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

// enqueue puts an entry in line for its time.
func (l *Loop) enqueue(e *entry) {
	if !e.wake.IsZero() && !e.Paused {
		heap.Push(&l.line, e)
	}
}

func (l *Loop) stir() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run fires schedules until ctx ends, and returns when nothing is under way any more.
func (l *Loop) Run(ctx context.Context) {
	defer l.work.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	clocks := l.clocks()
	for {
		clocks = l.compare(clocks)
		for e := l.pop(); e != nil; e = l.pop() {
			select {
			case l.room <- struct{}{}:
			case <-ctx.Done():
				return
			}
			l.work.Go(func() {
				l.tend(ctx, e)
				<-l.room
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

// pop takes the next entry out of the line whose time has come.
func (l *Loop) pop() *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.line) == 0 || l.line[0].wake.After(l.wall()) {
		return nil
	}
	e := heap.Pop(&l.line).(*entry)
	e.busy = true
	return e
}

func (l *Loop) sleep() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.line) == 0 {
		return lookAgain
	}
	return min(lookAgain, max(0, l.line[0].wake.Sub(l.wall())))
}

// clocks is the wall clock and the monotonic one at one moment.
type clocks struct{ wall, mono time.Time }

func (l *Loop) clocks() clocks { return clocks{l.wall(), time.Now()} }

// compare looks whether the wall clock was set since the last time.
func (l *Loop) compare(before clocks) clocks {
	now := l.clocks()
	by := now.wall.Sub(before.wall) - now.mono.Sub(before.mono)
	if by.Abs() < jump {
		return now
	}
	l.Observe(Report{Kind: Jumped, Lag: by})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line = nil
	for _, e := range l.entries {
		if !e.busy {
			e.wake = now.wall
			l.enqueue(e)
		}
	}
	return now
}

// tend deals with one schedule whose time has come, and puts it in line again.
func (l *Loop) tend(ctx context.Context, e *entry) {
	now := l.wall()
	wake, err := l.deal(ctx, e, now)
	if err != nil && ctx.Err() == nil {
		l.Observe(Report{Kind: Failed, Schedule: e.Name, Err: err})
		wake = now.Add(retryIn)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e.busy, e.wake = false, wake
	switch {
	case l.entries[e.Name] != e: // it was taken away meanwhile
	case e.changed != nil:
		l.take(*e.changed, e)
	default:
		l.enqueue(e)
	}
	l.stir()
}

// deal does what is due and answers when to look again. What could not be dealt with
// stays behind the cursor and is found again.
func (l *Loop) deal(ctx context.Context, e *entry, now time.Time) (wake time.Time, err error) {
	if err := l.watch(ctx, e, now); err != nil {
		return wake, err
	}
	cursor := e.cursor
	if cursor.After(now) {
		cursor = now // the clock was set back; what fired remains claimed
	}
	due := Due(&e.Schedule, cursor, now)
	if due.late() { // another service may have been there while this one slept
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
		reason := fmt.Sprintf("missed: no service was running in time (catch-up %s); %d times up to this one", e.catchUp(), due.Missed)
		if err := l.Store.Skip(ctx, e.Name, due.LastMissed, reason); err != nil {
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
	return due.Next, nil
}

func (s *Schedule) catchUp() CatchUp {
	if s.CatchUp == "" {
		return CatchUpOnce
	}
	return s.CatchUp
}

// watch asks the Book where the schedule is, the first time.
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

// fire deals with one slot. An error means that it has not been dealt with.
func (l *Loop) fire(ctx context.Context, e *entry, slot ScheduledTime) error {
	action, reason, err := l.decide(ctx, e, slot)
	if err != nil {
		return err
	}
	report := Report{Schedule: e.Name, Scheduled: slot.At, Action: action, Late: slot.Late, Reason: reason}
	if action == Skip {
		report.Kind = Skipped
		err := l.Store.Skip(ctx, e.Name, slot.At, reason)
		if err == nil {
			l.Observe(report)
		}
		return err
	}
	report.Run = l.Runs.NewID()
	mine, err := l.Store.Claim(ctx, e.Name, slot.At, report.Run)
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
			return Skip, "the tool has succeeded since the previous time", nil
		}
	}
	running, queued, err := l.Runs.Active(ctx, &e.Schedule)
	if err != nil {
		return Skip, "", err
	}
	action, reason := Decide(e.Overlap, slot.Late, running, queued)
	return action, reason, nil
}

// line is the entries by their time: a heap.
type line []*entry

func (h line) Len() int           { return len(h) }
func (h line) Less(i, j int) bool { return h[i].wake.Before(h[j].wake) }
func (h line) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *line) Push(x any)        { *h = append(*h, x.(*entry)) }
func (h *line) Pop() any {
	old := *h
	e := old[len(old)-1]
	*h = old[:len(old)-1]
	return e
}
