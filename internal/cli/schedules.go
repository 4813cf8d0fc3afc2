package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/cron"
	"github.com/flowrun/flowrun/internal/sqlite"
	"github.com/flowrun/flowrun/tool"
)

// planned is a schedule: one of a definition, or one that was added by command. A
// project's have the project in their id, so that the tools of two projects that have
// the same name are two schedules in one history.
type planned struct {
	id, name, tool string
	project        string // the folder that has the tool; "" for the user's and global ones
	params         map[string]any
	timing
	rule   *tool.Schedule
	place  tool.Pos  // in a definition
	by     string    // who added it, where it was
	paused time.Time // since when, zero for not
}

// timing is when a schedule fires.
type timing struct {
	spec       cron.Spec
	start, end time.Time // zero for none
}

// timingOf is what a rule says of time. The rule of a definition has been checked.
func timingOf(r *tool.Schedule) (t timing, err error) {
	zone := time.Local
	if r.Timezone != nil {
		if zone, err = cron.LoadZone(r.Timezone.S); err != nil {
			return t, err
		}
	}
	text := "@every " + r.Every.String()
	if r.Cron != nil {
		text = r.Cron.S
	}
	if t.spec, err = cron.Parse(text, cron.Options{Zone: zone}); err != nil {
		return t, err
	}
	for _, m := range []struct {
		text *tool.Text
		to   *time.Time
	}{{r.Start, &t.start}, {r.End, &t.end}} {
		if m.text == nil {
			continue
		}
		if *m.to, err = tool.Moment(m.text.S, zone); err != nil {
			return t, err
		}
	}
	if !t.start.IsZero() {
		t.spec = t.spec.From(t.start)
	}
	return t, nil
}

// next is the first slot after a time, zero for none.
func (t timing) next(after time.Time) time.Time {
	if !t.start.IsZero() && after.Before(t.start) {
		after = t.start.Add(-time.Nanosecond)
	}
	slot := t.spec.Next(after)
	if !t.end.IsZero() && !slot.Before(t.end) {
		return time.Time{}
	}
	return slot
}

// key is what of a timing makes it another one: then slots that are past by the new one
// are not made up for.
func (t timing) key() string {
	if t.start.IsZero() {
		return t.spec.String()
	}
	return t.spec.String() + " from " + t.start.UTC().Format(time.RFC3339)
}

// source says for people where a schedule comes from.
func (e planned) source() string {
	switch {
	case e.by == "":
		return fmt.Sprintf("%s:%d", shortPath(e.place.File), e.place.Line)
	case e.project != "":
		return fmt.Sprintf("added by %s for %s", e.by, e.project)
	}
	return "added by " + e.by
}

// when is the cron expression, with its time zone where that is not the machine's.
func (t timing) when() string {
	if t.spec.Zone() == time.Local {
		return t.spec.Text()
	}
	return t.spec.Text() + " " + t.spec.Zone().String()
}

// timetable is the schedules there are, by name. problems say which are not there, and
// why.
type timetable struct {
	entries  []planned
	problems []string
}

// timetable reads the schedules of the definitions in reach, and those that were added,
// of whatever project. plan compiles a tool.
func (a *app) timetable(ctx context.Context, s *sqlite.Store, lib *tool.Library, plan func(name string) (*flowrun.Plan, error)) (*timetable, error) {
	added, err := s.Schedules(ctx)
	if err != nil {
		return nil, err
	}
	pauses, err := s.Pauses(ctx)
	if err != nil {
		return nil, err
	}
	t := &timetable{}
	for _, r := range added {
		t.added(r)
	}
	for _, e := range a.tools(lib) {
		if e.Scheduled && e.ShadowedBy == "" {
			t.defined(e, plan)
		}
	}
	for i := range t.entries {
		t.entries[i].paused = pauses[t.entries[i].id]
	}
	slices.SortFunc(t.entries, func(x, y planned) int { return cmp.Compare(x.id, y.id) })
	return t, nil
}

// added takes in a schedule that was added by command.
func (t *timetable) added(r sqlite.Schedule) {
	var p addedPlan
	err := decode([]byte(r.Plan), &p)
	e := planned{id: r.ID, name: r.Name, tool: r.Tool, project: r.Project, by: r.By, params: p.Params, rule: p.rule()}
	if err == nil {
		e.timing, err = timingOf(e.rule)
	}
	if err != nil {
		t.problems = append(t.problems, fmt.Sprintf("schedule %s does not run: %v; add it anew with --override", r.ID, err))
		return
	}
	t.take(e)
}

// defined takes in the schedules of a definition.
func (t *timetable) defined(l tool.Listed, plan func(name string) (*flowrun.Plan, error)) {
	p, err := plan(l.Name)
	if err != nil {
		t.problems = append(t.problems, fmt.Sprintf("the schedules of tool %s do not run: flowrun validate %s says why", l.Name, l.Name))
		return
	}
	for i, rule := range p.Definition.Schedules {
		e := planned{name: p.Definition.Title(i), tool: l.Name, rule: rule, place: rule.Pos, params: p.Given(rule.Params)}
		e.place.File = cmp.Or(e.place.File, l.Path)
		if l.Scope == tool.ScopeLocal {
			e.project = projectOf(l.Path)
		}
		e.id = scheduleID(e.name, e.project)
		if e.timing, err = timingOf(rule); err != nil { // the time zones of this machine have changed since
			t.problems = append(t.problems, fmt.Sprintf("schedule %s does not run: %v", e.name, err))
			continue
		}
		t.take(e)
	}
}

// take adds an planned, unless there is one of its id.
func (t *timetable) take(e planned) {
	if i := slices.IndexFunc(t.entries, func(o planned) bool { return o.id == e.id }); i >= 0 {
		t.problems = append(t.problems, fmt.Sprintf("schedule %s (%s) does not run: there is another of that name (%s); rename one of them", e.name, e.source(), t.entries[i].source()))
		return
	}
	t.entries = append(t.entries, e)
}

// scheduleID is the id of a schedule in the history.
func scheduleID(name, project string) string {
	if project == "" {
		return name
	}
	return name + "@" + project
}

// projectOf is the project of a definition in a folder such as .flowrun/tools.
func projectOf(file string) string { return canonical(filepath.Dir(filepath.Dir(filepath.Dir(file)))) }

// projectHere is the project that the working directory is in, "" for none.
func projectHere() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	if dir = tool.ProjectRoot(dir); dir != "" {
		dir = canonical(dir)
	}
	return dir
}

// canonical is a folder by its one name, so that a link to it is not another project.
func canonical(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// addedPlan is what schedule add keeps, spelled as in a definition.
type addedPlan struct {
	Cron             string         `json:"cron,omitempty"`
	Every            string         `json:"every,omitempty"`
	Timezone         string         `json:"timezone,omitempty"`
	Params           map[string]any `json:"params,omitempty"`
	Overlap          string         `json:"overlap,omitempty"`
	CatchUp          string         `json:"catch-up,omitempty"`
	Window           string         `json:"catch-up-window,omitempty"`
	Max              int            `json:"catch-up-max,omitempty"`
	Jitter           string         `json:"jitter,omitempty"`
	Start            string         `json:"start,omitempty"`
	End              string         `json:"end,omitempty"`
	SkipIfSuccessful bool           `json:"skip-if-successful,omitempty"`
}

// rule is the plan as a definition would have it. Its durations have been checked when
// it was made.
func (p addedPlan) rule() *tool.Schedule {
	text := func(s string) *tool.Text {
		if s == "" {
			return nil
		}
		t := tool.Plain(s)
		return &t
	}
	span := func(s string) time.Duration { d, _ := time.ParseDuration(s); return d }
	return &tool.Schedule{Cron: text(p.Cron), Every: span(p.Every), Timezone: text(p.Timezone), Overlap: p.Overlap,
		CatchUp: tool.CatchUp{Mode: p.CatchUp, Window: span(p.Window), Max: p.Max},
		Jitter:  span(p.Jitter), Start: text(p.Start), End: text(p.End), SkipIfSuccessful: p.SkipIfSuccessful}
}

// String is the plan as it is kept.
func (p addedPlan) String() string {
	b, _ := json.Marshal(p) // texts and parameters that came from JSON or the command line
	return string(b)
}
