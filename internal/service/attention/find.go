package attention

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/timetable"
	"github.com/flowrun/flowrun/library"
)

// Source is where items are found. Store and Library are required.
type Source struct {
	Store   timetable.Store
	Library *library.Library // of the available definitions
	// Load reads a run. Default: engine.LoadRun with the Library.
	Load func(ctx context.Context, id string) (*engine.RecordedRun, error)
	// Left returns why services leave an interrupted run to people, nil if they do not. A service knows it; for other
	// processes the default works it out (service.WhyLeft).
	Left func(ctx context.Context, run history.RunInfo) error
	// Schedules returns the schedules. Default: those of the Library and all that were added.
	Schedules func(ctx context.Context) (*timetable.Timetable, error)
	// Began is when the process began to fire the schedules: before, they cannot be late. Zero: it fires none.
	Began time.Time
	// Definitions returns the available definitions. Default: those of the Library.
	Definitions func() []Definition
	// StateDir is the state directory, and MinFree how many bytes of its file system should be free; 0 means 1 GiB, or 5 % of
	// it if that is less.
	StateDir string
	MinFree  int64
}

// Definition is what is known of an available definition.
type Definition struct {
	Name, File string
	Scheduled  bool
	Broken     string // why it cannot run; "" if it can
	// Plan compiles it. It is called for few definitions.
	Plan func() (*engine.Plan, error)
}

// Find returns all items: the newest first, and those whose time is not known at the end. An error is that of the kinds that
// could not be searched; the items of the others are returned all the same.
func Find(ctx context.Context, s Source) ([]Item, error) {
	f := &search{Source: s, now: time.Now(), loaded: map[string]*engine.RecordedRun{}}
	f.Load, f.Left, f.Schedules = s.load(), s.left(f.run), sync.OnceValues(func() (*timetable.Timetable, error) { return s.schedules(ctx) })
	f.Definitions = sync.OnceValue(s.definitions)
	var failed []error
	for _, k := range kinds {
		if err := k.find(f, ctx); err != nil {
			failed = append(failed, err)
		}
	}
	slices.SortStableFunc(f.items, func(x, y Item) int { return cmp.Or(y.Since.Compare(x.Since), cmp.Compare(x.Tool, y.Tool)) })
	return f.items, errors.Join(failed...)
}

func (s Source) load() func(context.Context, string) (*engine.RecordedRun, error) {
	if s.Load != nil {
		return s.Load
	}
	return func(ctx context.Context, id string) (*engine.RecordedRun, error) {
		return engine.LoadRun(ctx, s.Store, s.Library, id)
	}
}

func (s Source) left(load func(context.Context, string) (*engine.RecordedRun, error)) func(context.Context, history.RunInfo) error {
	if s.Left != nil {
		return s.Left
	}
	return func(ctx context.Context, info history.RunInfo) error {
		past, err := load(ctx, info.ID)
		if err != nil {
			return err
		}
		return service.WhyLeft(past, s.Library)
	}
}

func (s Source) schedules(ctx context.Context) (*timetable.Timetable, error) {
	if s.Schedules != nil {
		return s.Schedules(ctx)
	}
	return timetable.Read(ctx, s.Store.Schedules(), s.Library)
}

// definitions reads the definitions of the Library. Only those with schedules are compiled: others are checked when somebody
// runs them.
func (s Source) definitions() (list []Definition) {
	if s.Definitions != nil {
		return s.Definitions()
	}
	for _, l := range s.Library.List() {
		if l.ShadowedBy != "" {
			continue
		}
		d := Definition{Name: l.Name, File: l.Path, Scheduled: l.Scheduled, Broken: l.Broken(),
			Plan: sync.OnceValues(func() (*engine.Plan, error) { return engine.Compile(s.Library, l.Name) })}
		if d.Scheduled && d.Broken == "" {
			if _, err := d.Plan(); err != nil {
				d.Broken = err.Error()
			}
		}
		list = append(list, d)
	}
	return list
}

// search is one call of Find.
type search struct {
	Source
	Schedules   func() (*timetable.Timetable, error)
	Definitions func() []Definition

	now    time.Time
	items  []Item
	open   []history.RunInfo // runs that have not ended; nil until it is asked for
	loaded map[string]*engine.RecordedRun
}

func (f *search) add(i Item) {
	i.Reason = oneLine(i.Reason)
	f.items = append(f.items, i)
}

// openRuns returns the runs that have not ended.
func (f *search) openRuns(ctx context.Context) (list []history.RunInfo, err error) {
	if f.open == nil {
		f.open, err = f.Store.Runs(ctx, history.Query{Open: true})
	}
	return f.open, err
}

// run reads a run once.
func (f *search) run(ctx context.Context, id string) (*engine.RecordedRun, error) {
	if past := f.loaded[id]; past != nil {
		return past, nil
	}
	past, err := f.Load(ctx, id)
	if err == nil {
		f.loaded[id] = past
	}
	return past, err
}
