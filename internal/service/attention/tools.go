package attention

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/keptstate"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/os/shellword"
	"github.com/flowrun/flowrun/internal/service/timetable"
)

// invalid finds the definitions that cannot run, and the schedules whose days without times cannot be read.
func (f *search) invalid(context.Context) error {
	t, err := f.Schedules()
	if t != nil {
		f.stopped(t.Stopped)
	}
	for _, d := range f.Definitions() {
		if d.Broken == "" {
			continue
		}
		i := Item{Kind: Invalid, Tool: d.Name, Reason: d.Broken, Do: "flowrun validate " + shellword.Sh(cmp.Or(d.File, d.Name))}
		if d.Scheduled {
			i.Reason = "its schedule cannot run: " + i.Reason
		}
		if info, err := os.Stat(d.File); err == nil {
			i.Since = info.ModTime()
		}
		f.add(i)
	}
	return err
}

// stopped adds the schedules that do not run.
func (f *search) stopped(list []timetable.Stopped) {
	for _, x := range list {
		do := "flowrun schedule list"
		if x.File != "" {
			do = "flowrun validate " + shellword.Sh(x.File)
		}
		f.add(Item{Kind: Invalid, Tool: x.Tool, Schedule: x.Schedule, Since: x.Since, Do: do,
			Reason: "a service that starts now does not run schedule " + x.Title + ": " + x.Why})
	}
}

// lostState finds the tools whose state belongs to another file, which is gone.
func (f *search) lostState(ctx context.Context) error {
	all, err := f.Store.State(ctx, history.StateID{})
	if err != nil || len(all) == 0 {
		return err
	}
	for _, d := range f.Definitions() {
		id := history.StateID{Tool: d.Name, File: d.File}
		lost := keptstate.Lost(all, id)
		if len(lost) == 0 || d.Broken != "" {
			continue
		}
		if p, err := d.Plan(); err != nil || !p.KeepsState() {
			continue
		}
		f.add(Item{Kind: LostState, Tool: d.Name, Reason: notice.OfLostState(id, lost).Message, Since: lost[0].At, Do: notice.AdoptState(id)})
	}
	return nil
}

// limits finds the scheduled tools whose last run had to run fewer items of a loop at once than the loop asks for.
func (f *search) limits(ctx context.Context) error {
	var failed []error
	for _, d := range f.Definitions() {
		if !d.Scheduled || d.Broken != "" {
			continue
		}
		if p, err := d.Plan(); err != nil || !limitsLoops(p.Graph()) {
			continue
		}
		last, err := f.Store.Runs(ctx, history.Query{Tool: d.Name, Status: []dag.Status{dag.Succeeded, dag.Failed, dag.TimedOut, dag.Cancelled}, Limit: 1})
		failed = append(failed, err)
		for _, info := range last {
			past, err := f.run(ctx, info.ID)
			if err != nil {
				failed = append(failed, err)
				continue
			}
			for _, n := range past.Result().Notices {
				if n.Code == notice.Limited {
					f.add(Item{Kind: Limit, Tool: d.Name, Schedule: scheduleOf(info), Step: string(n.Step), Reason: n.Message, Do: "flowrun serve --max-parallel N"})
					break
				}
			}
		}
	}
	return errors.Join(failed...)
}

// limitsLoops reports whether a loop of a graph says how many items may be active at once.
func limitsLoops(g *dag.Graph) bool {
	for _, n := range g.Nodes() {
		for n.Each != nil {
			if n.Each.Parallel > 1 {
				return true
			}
			n = n.Each.Item
		}
		if n.Graph != nil && limitsLoops(n.Graph) {
			return true
		}
	}
	return false
}
