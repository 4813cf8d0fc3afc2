package timetable

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
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/cron"
	"github.com/flowrun/flowrun/internal/schedule"
	"github.com/flowrun/flowrun/internal/sqlite"
	"github.com/flowrun/flowrun/tool"
)

// OverlapWords are what a schedule may do while a run of it is under way.
func OverlapWords() []string { return []string{"skip", "queue", "cancel-running", "allow"} }

// CatchUpWords are what a schedule may do about slots that passed.
func CatchUpWords() []string { return []string{"none", "once", "all"} }

// ScheduleSince is the schedule with the slots of an interval counted from when a service first
// saw it; from now where none has.
func ScheduleSince(ctx context.Context, s *sqlite.Store, e Planned) (schedule.Schedule, error) {
	if e.Spec.Interval() == 0 || !e.Start.IsZero() {
		return e.Schedule, nil
	}
	anchor, ok, err := s.FiringStore().Anchor(ctx, e.Name, e.Plan())
	if !ok {
		anchor = time.Now()
	}
	e.Spec = e.Spec.From(anchor)
	return e.Schedule, err
}

// ZoneName is the name of a time zone.
func ZoneName(z *time.Location) string {
	if z != time.Local {
		return z.String()
	}
	if name := os.Getenv("TZ"); name != "" {
		return strings.TrimPrefix(name, ":")
	}
	if file, err := os.Readlink("/etc/localtime"); err == nil {
		if _, name, ok := strings.Cut(filepath.ToSlash(file), "zoneinfo/"); ok {
			return name
		}
	}
	return z.String()
}

// Planned is a schedule: one of a definition, or one that was added by command. The Name
// in it is its id in the history. A project's have the project in their id, so that the
// tools of two projects that have the same name are two schedules in one history.
type Planned struct {
	schedule.Schedule
	Title   string // for people
	Project string // the folder that has the tool; "" for the user's and global ones
	place   tool.Pos
	By      string // who added it; "" for one of a definition, which stands at place
}

// Scheduled is what a rule says. The rule of a definition has been checked.
func Scheduled(r *tool.Schedule) (s schedule.Schedule, err error) {
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
func (e Planned) source() string {
	switch {
	case e.By == "":
		return fmt.Sprintf("%s:%d", ui.ShortPath(e.place.File), e.place.Line)
	case e.Project != "":
		return fmt.Sprintf("added by %s for %s", e.By, e.Project)
	}
	return "added by " + e.By
}

// When is a cron expression for people, with its time zone where that is not the
// machine's.
func When(spec cron.Spec) string {
	if spec.Zone() == time.Local {
		return spec.Text()
	}
	return spec.Text() + " " + spec.Zone().String()
}

// Timetable is the schedules there are, by name. problems say which are not there, and
// why.
type Timetable struct {
	Entries  []Planned
	Problems []string
	// kept are tools that had schedules before: where one is broken now, the version that
	// is in force has them still.
	kept map[string]bool
}

// Read reads the schedules of the definitions in reach, and those that were added,
// of whatever project.
func Read(ctx context.Context, env *ui.Env, s *sqlite.Store, lib *tool.Library) (*Timetable, error) {
	t := &Timetable{}
	return t, t.read(ctx, s, env.Tools(lib), func(name string) (*flowrun.Plan, error) { return flowrun.Compile(lib, name) })
}

// read fills the timetable; plan compiles a tool.
func (t *Timetable) read(ctx context.Context, s *sqlite.Store, tools []tool.Listed, plan func(name string) (*flowrun.Plan, error)) error {
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
	for i := range t.Entries {
		_, t.Entries[i].Paused = pauses[t.Entries[i].Name]
	}
	slices.SortFunc(t.Entries, byName)
	return nil
}

func byName(x, y Planned) int {
	return cmp.Or(cmp.Compare(x.Title, y.Title), cmp.Compare(x.Name, y.Name))
}

// added takes in a schedule that was added by command.
func (t *Timetable) added(r sqlite.Schedule) {
	var p AddedPlan
	e := Planned{Title: r.Name, Project: r.Project, By: r.By}
	err := ui.DecodeJSON([]byte(r.Plan), &p)
	if err == nil {
		e.Schedule, err = Scheduled(p.Rule())
	}
	if err != nil {
		t.Problems = append(t.Problems, fmt.Sprintf("schedule %s is invalid: %v; add it again with --override", r.Name, err))
		return
	}
	e.Name, e.Tool, e.Params, e.Source = r.ID, r.Tool, p.Params, e.source()
	t.take(e)
}

// defined takes in the schedules of a definition.
func (t *Timetable) defined(l tool.Listed, plan func(name string) (*flowrun.Plan, error)) {
	p, err := plan(l.Name)
	if err != nil {
		t.Problems = append(t.Problems, fmt.Sprintf("the schedules of tool %s cannot run; for the reason: flowrun validate %s", l.Name, l.Name))
		return
	}
	for i, rule := range p.Definition.Schedules {
		e := Planned{Title: p.Definition.Title(i), place: rule.Pos}
		if e.Schedule, err = Scheduled(rule); err != nil { // the time zones of this machine have changed since
			t.Problems = append(t.Problems, fmt.Sprintf("schedule %s is invalid: %v", e.Title, err))
			continue
		}
		e.place.File = cmp.Or(e.place.File, l.Path)
		if l.Scope == tool.ScopeLocal {
			e.Project = ProjectOf(l.Path)
		}
		e.Name, e.Tool, e.Params, e.Source = ScheduleID(e.Title, e.Project), l.Name, p.Given(rule.Params), e.source()
		t.take(e)
	}
}

// take adds an entry, unless there is one of its id.
func (t *Timetable) take(e Planned) {
	if i := slices.IndexFunc(t.Entries, func(o Planned) bool { return o.Name == e.Name }); i >= 0 {
		t.Problems = append(t.Problems, fmt.Sprintf("schedule %s (%s) is ignored: another schedule has the same name (%s); rename one of them", e.Title, e.Source, t.Entries[i].Source))
		return
	}
	t.Entries = append(t.Entries, e)
}

// ScheduleID is the id of a schedule in the history.
func ScheduleID(name, project string) string {
	if project == "" {
		return name
	}
	return name + "@" + project
}

// ProjectOf is the project of a definition in a folder such as .flowrun/tools.
func ProjectOf(file string) string { return canonical(filepath.Dir(filepath.Dir(filepath.Dir(file)))) }

// ProjectHere is the project that the working directory is in, "" for none.
func ProjectHere() string {
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

// AddedPlan is what schedule add keeps, spelled as in a definition.
type AddedPlan struct {
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

// Rule is the plan as a definition would have it. Its durations have been checked when
// it was made.
func (p AddedPlan) Rule() *tool.Schedule {
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
func (p AddedPlan) String() string {
	b, _ := json.Marshal(p) // texts and parameters that came from JSON or the command line
	return string(b)
}

// All are the schedules by name.
func (t *Timetable) All() []Planned {
	if t == nil {
		return nil
	}
	return t.Entries
}

// Find is the schedule that a word means: an id, else a name. Of several with a name,
// that of the project here is meant, then one of no project.
func (t *Timetable) Find(word string) (Planned, error) {
	var ids, names []string
	var found []Planned
	for _, e := range t.Entries {
		names = append(names, e.Title)
		switch {
		case e.Name == word:
			return e, nil
		case e.Title == word:
			found, ids = append(found, e), append(ids, e.Name)
		}
	}
	here := ProjectHere()
	for _, project := range []string{here, ""} {
		for _, e := range found {
			if e.Project == project {
				return e, nil
			}
		}
	}
	switch len(found) {
	case 0:
		return Planned{}, ui.Missing(fmt.Errorf("cannot find schedule %q%s", word, ui.AddHint(ui.Nearest(word, names), "to list all schedules: flowrun schedule list")))
	case 1:
		return found[0], nil
	}
	return Planned{}, ui.Usage(fmt.Errorf("%q matches several schedules; use %s", word, strings.Join(ids, " or ")), nil)
}
