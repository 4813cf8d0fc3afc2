package attention

import (
	"cmp"
	"context"
	"errors"
	"slices"
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
}

// Find returns all items: the newest first, and those whose time is not known at the end. An error is that of the kinds that
// could not be searched; the items of the others are returned all the same.
func Find(ctx context.Context, s Source) ([]Item, error) {
	f := &search{Source: s, now: time.Now(), loaded: map[string]*engine.RecordedRun{}}
	f.Load, f.Left = s.load(), s.left(f.run)
	var failed []error
	for _, k := range kinds {
		if err := k.find(f, ctx); err != nil {
			failed = append(failed, err)
		}
	}
	slices.SortStableFunc(f.items, func(x, y Item) int { return cmp.Or(y.Since.Compare(x.Since), cmp.Compare(x.Tool, y.Tool)) })
	return f.items, errors.Join(failed...)
}

// OfTools returns the items of tools for which of is true, and those of the machine as a whole.
func OfTools(list []Item, of func(tool string) bool) (some []Item) {
	for _, i := range list {
		if i.Tool == "" || of(i.Tool) {
			some = append(some, i)
		}
	}
	return some
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

// search is one call of Find.
type search struct {
	Source
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
