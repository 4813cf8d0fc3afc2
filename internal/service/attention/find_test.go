package attention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/service/timetable"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/library"
)

// place is a history with definitions.
type place struct {
	*testing.T
	dir   string
	store *sqlite.Store
	runs  int
}

func newPlace(t *testing.T, definitions map[string]string) *place {
	t.Helper()
	p := &place{T: t, dir: t.TempDir()}
	for name, text := range definitions {
		file := filepath.Join(p.dir, ".flowrun", "tools", name+".yaml")
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("name: "+name+"\ndescription: A tool\n"+text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if p.store, err = sqlite.Open(t.Context(), filepath.Join(p.dir, "state")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.store.Close() })
	return p
}

func (p *place) library() *library.Library {
	return library.New(library.Config{WorkingDirectory: p.dir, Home: p.dir, Getenv: func(string) string { return "" }})
}

func (p *place) source() Source { return Source{Store: p.store, Library: p.library()} }

// record records a run with events that happened in its first step, a. It ends with the status, or is left by its owner if that
// is Interrupted.
func (p *place) record(tool, origin string, end dag.Status, kinds ...dag.Kind) string {
	p.Helper()
	plan, err := engine.Compile(p.library(), tool)
	if err != nil {
		p.Fatal(err)
	}
	p.runs++
	id, now := fmt.Sprintf("run%d", p.runs), time.Now()
	events := []dag.Event{{Kind: dag.RunStarted}}
	for _, k := range kinds {
		e := dag.Event{Kind: k, Node: "a", Attempt: 1}
		if k == dag.RunResumed {
			e.Node, e.Attempt = "", 0
		}
		events = append(events, e)
	}
	if end != dag.Interrupted {
		events = append(events, dag.Event{Kind: dag.RunFinished, Result: &dag.Result{Status: end, Started: now, Ended: now}})
	}
	for i := range events {
		events[i].V, events[i].Seq, events[i].Run, events[i].Time = dag.EventVersion, uint64(i+1), id, now
	}
	ledger, err := p.store.Begin(p.Context(), &history.Record{ID: id, Tool: tool, Origin: origin, Created: now, Params: map[string]any{}, Given: map[string]any{},
		Sources: plan.Sources(), RunEnv: history.RecordedEnv{Workspace: p.dir, Home: p.dir, Time: now}})
	if err == nil {
		err = errors.Join(ledger.Append(p.Context(), events), ledger.Close())
	}
	if err != nil {
		p.Fatal(err)
	}
	return id
}

// found returns the items as KIND TOOL RUN.
func (p *place) found(s Source) string {
	p.Helper()
	items, err := Find(p.Context(), s)
	if err != nil {
		p.Error(err)
	}
	var list []string
	for _, i := range items {
		list = append(list, strings.Join(strings.Fields(i.Kind+" "+i.Tool+" "+i.Run), " "))
	}
	return strings.Join(list, ", ")
}

// TestInterrupted checks which interrupted runs need a person: those of services that may not simply run again.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"asks": "steps: [{name: a, bash: echo}]\n", "again": "idempotent: true\nsteps: [{name: a, bash: echo}]\n"})
	asks := p.record("asks", "schedule:asks", dag.Interrupted, dag.StepStarted)
	p.record("asks", "", dag.Interrupted, dag.StepStarted)                // a person's
	p.record("asks", "schedule:asks", dag.Interrupted)                    // no step was running
	p.record("again", "schedule:again", dag.Interrupted, dag.StepStarted) // runs again by itself
	p.record("asks", "schedule:asks", dag.Failed, dag.StepStarted)
	if got, want := p.found(p.source()), "interrupted asks "+asks; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	s := p.source()
	s.Left = func(_ context.Context, run history.RunInfo) error { // as a service knows it
		if run.Tool == "again" {
			return errors.New("a secret is missing")
		}
		return nil
	}
	items, err := Find(t.Context(), s)
	if err != nil || len(items) != 1 || items[0].Reason != "a secret is missing" || items[0].Do != "flowrun resume "+items[0].Run || items[0].Schedule != "again" {
		t.Errorf("%+v, %v", items, err)
	}
}

// TestSchedules checks when scheduled times count as missed or queued.
func TestSchedules(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"job": "schedule: \"0 3 * * *\"\nsteps: [{name: a, bash: echo}]\n"})
	read, err := timetable.Read(t.Context(), p.store.Schedules(), p.library())
	if err != nil || len(read.Entries) != 1 {
		t.Fatalf("%+v, %v", read, err)
	}
	e, firings := read.Entries[0], p.store.Firings()
	holds := func(when, want string, s Source) {
		t.Helper()
		if got := p.found(s); got != want {
			t.Errorf("%s: found %q, want %q", when, got, want)
		}
	}
	holds("before a service has seen it", "", p.source())
	now := time.Now()
	if _, err := firings.Watch(t.Context(), e.Name, e.Plan(), now.Add(-72*time.Hour)); err != nil {
		t.Fatal(err)
	}
	holds("when its time has passed", "missed job", p.source())
	young, paused := p.source(), p.source()
	young.Began = now
	holds("when the service has just started", "", young)
	e.Paused = true
	paused.Schedules = func(context.Context) (*timetable.Timetable, error) {
		return &timetable.Timetable{Entries: []timetable.Entry{e}}, nil
	}
	holds("when it is paused", "", paused)
	if err := firings.Skip(t.Context(), e.Name, now.Add(-time.Hour), schedule.MissedPrefix+"no service was running", time.Time{}); err != nil {
		t.Fatal(err)
	}
	holds("when the last time was missed", "missed job", young)
	if _, err := firings.Claim(t.Context(), e.Name, now.Add(-time.Minute), "fired", time.Time{}); err != nil {
		t.Fatal(err)
	}
	holds("when a later time has fired", "", young)
}

// TestStopped checks that a schedule whose days without times cannot be read needs a person.
func TestStopped(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"job": "schedule: {cron: \"0 3 * * *\", except: [{file: " + filepath.Join(t.TempDir(), "holidays.txt") + "}]}\nsteps: [{name: a, bash: echo}]\n"})
	items, err := Find(t.Context(), p.source())
	if err != nil || len(items) != 1 || items[0].Kind != Invalid || items[0].Tool != "job" || items[0].Since.IsZero() ||
		!strings.Contains(items[0].Reason, "does not run schedule job: cannot read the days in") || !strings.HasPrefix(items[0].Do, "flowrun validate ") {
		t.Errorf("%+v, %v", items, err)
	}
}

// TestStaleApprovals checks that of two runs which wait, the one that asked first is stale, and once, however many follow.
func TestStaleApprovals(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"asks": "steps: [{name: a, approve: Go on}]\n"})
	stale := func() (runs, keys string) {
		t.Helper()
		items, err := Find(t.Context(), p.source())
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range items {
			if i.Kind == StaleApproval {
				runs, keys = runs+i.Run+" ", keys+i.Key()+" "
			}
		}
		return runs, keys
	}
	first := p.wait("asks")
	if got, _ := stale(); got != "" {
		t.Errorf("a run alone is stale: %s", got)
	}
	second := p.wait("asks")
	got, keys := stale()
	if got != first+" " {
		t.Errorf("of %s and %s, %sis stale", first, second, got)
	}
	p.wait("asks")
	if _, now := stale(); !strings.HasSuffix(now, keys) {
		t.Errorf("the item %s became %s", keys, now)
	}
}

// wait runs a tool until it waits for an answer.
func (p *place) wait(tool string) string {
	p.Helper()
	plan, err := engine.Compile(p.library(), tool)
	if err != nil {
		p.Fatal(err)
	}
	nobody := func(context.Context, history.Question) (history.Answer, error) {
		return history.Answer{}, waiting.ErrNoApprover
	}
	r, err := engine.New(engine.Config{Store: p.store, StateDir: filepath.Join(p.dir, "state")}).Run(p.Context(), plan, nil, engine.WithOrigin("api"), engine.WithApproval(nobody))
	if err != nil || r.Status != dag.Waiting {
		p.Fatal(r, err)
	}
	return r.ID
}

// TestWatcher checks that a Watcher passes on what is new, once, and searches again when something has changed.
func TestWatcher(t *testing.T) {
	p := newPlace(t, map[string]string{"asks": "steps: [{name: a, bash: echo}]\n"})
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		var seen []string
		var version atomic.Uint64
		w := &Watcher{Source: func() Source { return p.source() }, Version: version.Load, Log: slog.New(slog.NewTextHandler(&log, nil)),
			New: func(_ context.Context, items []Item) {
				for _, i := range items {
					seen = append(seen, i.Run)
				}
			}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.Watch(ctx)
		}()
		time.Sleep(time.Minute)
		first := p.record("asks", "api", dag.Interrupted, dag.StepStarted)
		time.Sleep(maxInterval + time.Second)
		second := p.record("asks", "api", dag.Interrupted, dag.StepStarted)
		version.Add(1)
		time.Sleep(lookInterval + time.Millisecond)
		time.Sleep(time.Minute)
		cancel()
		<-ended
		if want := []string{first, second}; strings.Join(seen, " ") != strings.Join(want, " ") || len(w.Items()) != 2 || strings.Count(log.String(), "a person is needed") != 2 {
			t.Errorf("%q of %q were passed on\n%s", seen, want, log.String())
		}
	})
}

// TestSlowNew checks that items are found while the notification of an earlier one takes long.
func TestSlowNew(t *testing.T) {
	p := newPlace(t, map[string]string{"asks": "steps: [{name: a, bash: echo}]\n"})
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		w := &Watcher{Source: func() Source { return p.source() }, Version: func() uint64 { return 0 }, Log: slog.New(slog.DiscardHandler),
			New: func(ctx context.Context, _ []Item) {
				calls.Add(1)
				<-ctx.Done()
			}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.Watch(ctx)
		}()
		for range 2 {
			p.record("asks", "api", dag.Interrupted, dag.StepStarted)
			time.Sleep(maxInterval + time.Second)
		}
		if len(w.Items()) != 2 || calls.Load() != 1 {
			t.Errorf("%d items, %d calls", len(w.Items()), calls.Load())
		}
		cancel()
		<-ended
		if calls.Load() != 2 {
			t.Errorf("%d calls", calls.Load())
		}
	})
}
