package schedule

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/internal/lang/cron"
)

// book is a Book in memory.
type book struct {
	mu     sync.Mutex
	dealt  map[string]string // schedule and slot -> run, or why there is none
	plans  map[string]string
	anchor map[string]time.Time
	last   map[string]time.Time
	rival  bool  // somebody else is always quicker
	broken error // what every method answers
}

func newBook() *book {
	return &book{dealt: map[string]string{}, plans: map[string]string{}, anchor: map[string]time.Time{}, last: map[string]time.Time{}}
}

func (b *book) Watch(_ context.Context, schedule, plan string, since time.Time) (time.Time, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.plans[schedule] != plan {
		b.plans[schedule], b.anchor[schedule] = plan, since
		b.last[schedule] = latest(b.last[schedule], since)
	}
	return b.anchor[schedule], b.broken
}

func (b *book) Cursor(_ context.Context, schedule string) (time.Time, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	last, ok := b.last[schedule]
	return last, ok, b.broken
}

func (b *book) Claim(_ context.Context, schedule string, slot time.Time, run string, _ time.Time) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return false, b.broken
	}
	key := fmt.Sprint(schedule, " ", slot.Unix())
	b.last[schedule] = latest(b.last[schedule], slot)
	if b.dealt[key] != "" || b.rival {
		return false, nil
	}
	b.dealt[key] = run
	return true, nil
}

func (b *book) Skip(ctx context.Context, schedule string, slot time.Time, reason string, mustEnd time.Time) error {
	_, err := b.Claim(ctx, schedule, slot, reason, mustEnd)
	return err
}

// runs are runs that take a while.
type runs struct {
	w       *world
	mu      sync.Mutex
	n       int
	takes   time.Duration
	ends    []time.Time // of the active runs, by the monotonic clock
	queue   []Firing
	success time.Time
}

func (r *runs) Active(context.Context, *Schedule) (running, queued int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, end := range r.ends {
		if end.After(time.Now()) {
			running++
		}
	}
	return running, len(r.queue), nil
}

func (r *runs) LastSuccess(context.Context, *Schedule) (time.Time, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.success, nil
}

func (r *runs) set(change func(*runs)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
}

func (r *runs) NewID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	return fmt.Sprint("run", r.n)
}

func (r *runs) Start(_ context.Context, f Firing) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch f.Action {
	case Queue:
		r.queue = append(r.queue, f)
		return nil
	case Replace:
		r.ends = nil
	}
	r.begin()
	return nil
}

func (r *runs) begin() {
	if r.takes == 0 {
		return
	}
	r.ends = append(r.ends, time.Now().Add(r.takes))
	time.AfterFunc(r.takes, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.queue) > 0 {
			f := r.queue[0]
			r.queue = r.queue[1:]
			r.begin()
			r.w.note("", f.Scheduled.At, true)
		}
	})
}

// world is a service, its clock and what it did.
type world struct {
	s     Schedule
	ahead time.Duration // of the wall clock before time.Now
	book  *book
	runs  *runs

	mu  sync.Mutex
	log []string
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.ahead)
}

// note records a scheduled time in the notation of the cases.
func (w *world) note(what string, slot time.Time, late bool) {
	form := "02 15:04"
	if !strings.Contains(w.s.Spec.Text(), "@") && len(strings.Fields(w.s.Spec.Text())) == 6 {
		form = "02 15:04:05"
	}
	zoned := func(t time.Time) string {
		text := t.Format(form)
		if w.s.Spec.Zone() != time.UTC {
			text += strings.TrimSuffix(t.Format("-07:00"), ":00")
		}
		return text
	}
	text := strings.TrimSpace(what + " " + zoned(slot.In(w.s.Spec.Zone())))
	if late {
		text += " at " + w.now().In(w.s.Spec.Zone()).Format("15:04")
	}
	w.write(text)
}

func (w *world) write(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, text)
}

func (w *world) observe(r Report) {
	switch r.Kind {
	case Fired:
		w.note([]string{"", "queue", "cancel"}[r.Action], r.Scheduled, r.Late && r.Action == Start)
	case Taken:
		w.note("taken", r.Scheduled, false)
	case Skipped:
		w.note("skip", r.Scheduled, false)
	case Missed:
		w.write(fmt.Sprint("miss ", r.Count))
	case Failed:
		w.write("failed: " + r.Err.Error())
	case Jumped:
		w.write("jump")
	}
}

// play applies the steps of a case to a schedule and returns what happened.
func play(t *testing.T, s Schedule, begin time.Time, happens []string) string {
	w := &world{s: s, book: newBook()}
	synctest.Test(t, func(t *testing.T) {
		w.ahead = time.Until(begin)
		w.runs = &runs{w: w}
		loop := w.start()
		for _, h := range happens {
			verb, rest, _ := strings.Cut(h, " ")
			d, _ := time.ParseDuration(rest)
			switch verb {
			case "run":
				time.Sleep(d)
			case "down":
				loop.stop()
				w.jump(d)
				loop = w.start()
			case "jump":
				w.jump(d)
			case "takes":
				w.runs.set(func(r *runs) { r.takes = d })
			case "success":
				now := w.now()
				w.runs.set(func(r *runs) { r.success = now })
			case "rival":
				w.book.mu.Lock()
				w.book.rival = true
				w.book.mu.Unlock()
			case "pause", "resume":
				w.s.Paused = verb == "pause"
				loop.Set([]Schedule{w.s})
			case "except":
				w.s.Except = days(rest)
				loop.Set([]Schedule{w.s})
			case "line", "edit":
				spec, err := cron.Parse(rest, cron.Options{Zone: time.UTC})
				if err != nil {
					t.Fatal(err)
				}
				w.s.Spec = spec
				if verb == "line" {
					loop.Set([]Schedule{w.s})
				}
			default:
				t.Fatalf("%q cannot happen", h)
			}
			synctest.Wait()
		}
		loop.stop()
		time.Sleep(24 * time.Hour) // the runs end
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.log, ", ")
}

func (w *world) jump(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead += d
}

// running is a loop that runs.
type running struct {
	*Loop
	stop func()
}

func (w *world) start() running {
	l := New(Config{Store: w.book, Runs: w.runs, Observe: w.observe, Now: w.now})
	l.Set([]Schedule{w.s})
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { l.Run(ctx) })
	synctest.Wait()
	return running{l, func() { cancel(); done.Wait() }}
}
