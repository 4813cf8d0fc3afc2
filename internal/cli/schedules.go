package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/cron"
	"github.com/flowrun/flowrun/internal/schedule"
	"github.com/flowrun/flowrun/internal/sqlite"
	"github.com/flowrun/flowrun/tool"
)

// planned is a schedule: one of a definition, or one that was added by command. The Name
// in it is its id in the history. A project's have the project in their id, so that the
// tools of two projects that have the same name are two schedules in one history.
type planned struct {
	schedule.Schedule
	name    string // for people
	project string // the folder that has the tool; "" for the user's and global ones
	place   tool.Pos
	by      string // who added it; "" for one of a definition, which stands at place
}

// scheduled is what a rule says. The rule of a definition has been checked.
func scheduled(r *tool.Schedule) (s schedule.Schedule, err error) {
	zone := time.Local
	if r.Timezone != nil {
		if zone, err = cron.LoadZone(r.Timezone.S); err != nil {
			return s, err
		}
	}
	text := "@every " + r.Every.String()
	if r.Cron != nil {
		text = r.Cron.S
	}
	s = schedule.Schedule{Overlap: schedule.Overlap(r.Overlap), CatchUp: schedule.CatchUp(r.CatchUp.Mode), Window: r.CatchUp.Window,
		Cap: r.CatchUp.Max, Jitter: r.Jitter, SkipIfSuccessful: r.SkipIfSuccessful}
	if s.Spec, err = cron.Parse(text, cron.Options{Zone: zone}); err != nil {
		return s, err
	}
	for _, m := range []struct {
		text *tool.Text
		to   *time.Time
	}{{r.Start, &s.Start}, {r.End, &s.End}} {
		if m.text == nil {
			continue
		}
		if *m.to, err = tool.Moment(m.text.S, zone); err != nil {
			return s, err
		}
	}
	if !s.Start.IsZero() {
		s.Spec = s.Spec.From(s.Start)
	}
	return s, nil
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

// when is a cron expression for people, with its time zone where that is not the
// machine's.
func when(spec cron.Spec) string {
	if spec.Zone() == time.Local {
		return spec.Text()
	}
	return spec.Text() + " " + spec.Zone().String()
}

// timetable is the schedules there are, by name. problems say which are not there, and
// why.
type timetable struct {
	entries  []planned
	problems []string
	// kept are tools that had schedules before: where one is broken now, the version that
	// is in force has them still.
	kept map[string]bool
}

// timetable reads the schedules of the definitions in reach, and those that were added,
// of whatever project.
func (env *Env) timetable(ctx context.Context, s *sqlite.Store, lib *tool.Library) (*timetable, error) {
	t := &timetable{}
	return t, t.read(ctx, s, env.tools(lib), func(name string) (*flowrun.Plan, error) { return flowrun.Compile(lib, name) })
}

// read fills the timetable; plan compiles a tool.
func (t *timetable) read(ctx context.Context, s *sqlite.Store, tools []tool.Listed, plan func(name string) (*flowrun.Plan, error)) error {
	added, err := s.Schedules(ctx)
	if err != nil {
		return err
	}
	pauses, err := s.Pauses(ctx)
	if err != nil {
		return err
	}
	for _, r := range added {
		t.added(r)
	}
	for _, e := range tools {
		if e.ShadowedBy == "" && (e.Scheduled || t.kept[e.Name]) {
			t.defined(e, plan)
		}
	}
	for i := range t.entries {
		_, t.entries[i].Paused = pauses[t.entries[i].Name]
	}
	slices.SortFunc(t.entries, byName)
	return nil
}

func byName(x, y planned) int {
	return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.Name, y.Name))
}

// added takes in a schedule that was added by command.
func (t *timetable) added(r sqlite.Schedule) {
	var p addedPlan
	e := planned{name: r.Name, project: r.Project, by: r.By}
	err := decode([]byte(r.Plan), &p)
	if err == nil {
		e.Schedule, err = scheduled(p.rule())
	}
	if err != nil {
		t.problems = append(t.problems, fmt.Sprintf("schedule %s does not run: %v; add it anew with --override", r.Name, err))
		return
	}
	e.Name, e.Tool, e.Params, e.Source = r.ID, r.Tool, p.Params, e.source()
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
		e := planned{name: p.Definition.Title(i), place: rule.Pos}
		if e.Schedule, err = scheduled(rule); err != nil { // the time zones of this machine have changed since
			t.problems = append(t.problems, fmt.Sprintf("schedule %s does not run: %v", e.name, err))
			continue
		}
		e.place.File = cmp.Or(e.place.File, l.Path)
		if l.Scope == tool.ScopeLocal {
			e.project = projectOf(l.Path)
		}
		e.Name, e.Tool, e.Params, e.Source = scheduleID(e.name, e.project), l.Name, p.Given(rule.Params), e.source()
		t.take(e)
	}
}

// take adds an entry, unless there is one of its id.
func (t *timetable) take(e planned) {
	if i := slices.IndexFunc(t.entries, func(o planned) bool { return o.Name == e.Name }); i >= 0 {
		t.problems = append(t.problems, fmt.Sprintf("schedule %s (%s) does not run: there is another of that name (%s); rename one of them", e.name, e.Source, t.entries[i].Source))
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

func (t *timetable) all() []planned {
	if t == nil {
		return nil
	}
	return t.entries
}

// find is the schedule that a word means: an id, else a name. Of several with a name,
// that of the project here is meant, then one of no project.
func (t *timetable) find(word string) (planned, error) {
	var ids, names []string
	var found []planned
	for _, e := range t.entries {
		names = append(names, e.name)
		switch {
		case e.Name == word:
			return e, nil
		case e.name == word:
			found, ids = append(found, e), append(ids, e.Name)
		}
	}
	here := projectHere()
	for _, project := range []string{here, ""} {
		for _, e := range found {
			if e.project == project {
				return e, nil
			}
		}
	}
	switch len(found) {
	case 0:
		return planned{}, missing(fmt.Errorf("cannot find schedule %q%s", word, then(nearest(word, names), "flowrun schedule list shows them")))
	case 1:
		return found[0], nil
	}
	return planned{}, usage(fmt.Errorf("%q could be several schedules; write %s", word, strings.Join(ids, " or ")), nil)
}
