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

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/cron"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/os/shellword"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/library"
)

// OverlapWords returns what a schedule may do while its previous run is active.
func OverlapWords() []string { return []string{"skip", "queue", "cancel-running", "allow"} }

// CatchUpWords returns what a schedule may do about missed times.
func CatchUpWords() []string { return []string{"none", "once", "all"} }

// WithAnchor returns the schedule of e. The times of an interval count from when a service first
// saw the schedule, or from now if none has.
func WithAnchor(ctx context.Context, s sqlite.Firings, e Entry) (schedule.Schedule, error) {
	if e.Spec.Interval() == 0 || !e.Start.IsZero() {
		return e.Schedule, nil
	}
	anchor, ok, err := s.Anchor(ctx, e.Name, e.Plan())
	if !ok {
		anchor = time.Now()
	}
	e.Spec = e.Spec.From(anchor)
	return e.Schedule, err
}

// ZoneName returns the name of a time zone, also for the local one if the system tells it.
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

// Entry is a schedule from a definition or from schedule add. Its Name is its id in the history.
// The id of a project's schedule contains the project, so that tools with the same name in two
// projects have separate schedules in one history.
type Entry struct {
	schedule.Schedule
	Title   string   // name for people
	Project string   // folder of the project; "" for user and global tools
	Trigger *Trigger // nil for a schedule: only a trigger has events instead of times
	place   tool.Pos
	// PauseReason is why a service has paused it; "" if a person did, or if it is not paused.
	PauseReason string
	By          string // who added it; "" if it is in a definition, at place
	// exceptFiles are the files of except, exceptRead the days in them.
	exceptFiles []string
	exceptRead  cron.Days
	// toolMissing says that the tool of an added schedule does not exist any more.
	toolMissing bool
}

// FromRule converts a rule to a schedule, without the days in files of except. A rule in a valid
// definition causes no error, unless the time zones of the machine have changed.
func FromRule(r *tool.Schedule) (s schedule.Schedule, err error) {
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
	days, err := exceptDates(r)
	if err != nil {
		return s, err
	}
	s = schedule.Schedule{Except: days, Labels: r.Labels, Overlap: schedule.Overlap(r.Overlap), CatchUp: schedule.CatchUp(r.CatchUp.Mode), Window: r.CatchUp.Window,
		Cap: r.CatchUp.Max, Jitter: r.Jitter, SkipIfSuccessful: r.SkipIfSuccessful, PauseAfter: r.PauseAfter}
	if s.Spec, err = cron.Parse(text, cron.Options{Zone: zone}); err != nil {
		return s, err
	}
	if r.MustEndBy != nil {
		if s.MustEndBy, err = cron.ParseDeadline(r.MustEndBy.S, s.Spec.Zone()); err != nil {
			return s, err
		}
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

// exceptDates returns the days of except that are not in files.
func exceptDates(r *tool.Schedule) (all cron.Days, err error) {
	for _, e := range r.Except {
		if e.Days == nil {
			continue
		}
		days, err := cron.ParseDays(e.Days.S)
		if err != nil {
			return all, err
		}
		all = all.Union(days)
	}
	return all, nil
}

// source describes where a schedule comes from.
func (e Entry) source() string {
	switch {
	case e.By == "":
		return fmt.Sprintf("%s:%d", console.ShortPath(e.place.File), e.place.Line)
	case e.Project != "":
		return fmt.Sprintf("added by %s for %s", e.By, e.Project)
	}
	return "added by " + e.By
}

// When says when an entry starts runs, in a few words.
func (e Entry) When() string {
	if e.Trigger != nil {
		return e.Trigger.Describe()
	}
	return When(e.Spec)
}

// When returns a cron expression for people, with its time zone if that is not the machine's.
func When(spec cron.Spec) string {
	if spec.Zone() == time.Local {
		return spec.Text()
	}
	return spec.Text() + " " + spec.Zone().String()
}

// Timetable has all schedules, sorted by name. Problems describes the schedules that are missing,
// and why.
type Timetable struct {
	Entries  []Entry
	Problems []string
	// Stopped are the schedules that do not run, because the days in a file of except are not known. Problems has them, too.
	Stopped []Stopped
	// hadSchedules are tools that had schedules before. If the file of one is invalid now, the
	// previous version still applies, with its schedules.
	hadSchedules map[string]bool
	// before are the entries that were read last, by name: the days in their files of except still
	// count while a file cannot be read.
	before      map[string]Entry
	exceptFiles []string // of all schedules
}

// Read reads the schedules of the available definitions and all schedules that were added, for
// whatever project.
func Read(ctx context.Context, s sqlite.Schedules, lib *library.Library) (*Timetable, error) {
	t := &Timetable{}
	return t, t.read(ctx, s, lib, lib.List(), func(name string) (*engine.Plan, error) { return engine.Compile(lib, name) })
}

// read fills the timetable. plan compiles a tool.
func (t *Timetable) read(ctx context.Context, s sqlite.Schedules, lib *library.Library, tools []library.Listed, plan func(name string) (*engine.Plan, error)) error {
	added, err := s.List(ctx)
	if err != nil {
		return err
	}
	pauses, err := s.Pauses(ctx)
	if err != nil {
		return err
	}
	for _, r := range added {
		t.addStored(r)
	}
	for _, e := range tools {
		if e.ShadowedBy == "" && (e.Scheduled || t.hadSchedules[e.Name]) {
			t.addDefined(e, plan)
		}
	}
	for i := range t.Entries {
		e := &t.Entries[i]
		pause, paused := pauses[e.Name]
		e.Paused, e.PauseReason = paused, pause.Reason
		e.toolMissing = e.By != "" && lacksTool(lib, *e)
	}
	slices.SortFunc(t.Entries, byName)
	return nil
}

func byName(x, y Entry) int {
	return cmp.Or(cmp.Compare(x.Title, y.Title), cmp.Compare(x.Name, y.Name))
}

// addStored adds a schedule that was added by schedule add.
func (t *Timetable) addStored(r sqlite.Schedule) {
	var p AddedSchedule
	e := Entry{Title: r.Name, Project: r.Project, By: r.By}
	err := value.DecodeJSON(r.Plan, &p)
	if err == nil {
		e.Schedule, err = FromRule(p.Rule())
	}
	if err != nil {
		t.Problems = append(t.Problems, fmt.Sprintf("schedule %s is invalid: %v; add it again with --override", r.Name, err))
		return
	}
	e.Name, e.Tool, e.Params, e.Source = r.ID, r.Tool, rawtext.DecodeMap(p.Params), e.source()
	if t.addExcept(&e, p.Rule()) {
		t.addEntry(e)
	}
}

// addDefined adds the schedules of a definition.
func (t *Timetable) addDefined(l library.Listed, plan func(name string) (*engine.Plan, error)) {
	p, err := plan(l.Name)
	if err != nil {
		t.Problems = append(t.Problems, fmt.Sprintf("the schedules of tool %s cannot run; for the reason: flowrun validate %s", l.Name, shellword.Sh(l.Name)))
		return
	}
	t.addTriggers(l, p, definitionFile(plan))
	for i, rule := range p.Definition.Schedules {
		e := Entry{Title: p.Definition.ScheduleName(i), place: rule.Pos}
		if e.Schedule, err = FromRule(rule); err != nil { // for example because the time zones of this machine have changed
			t.Problems = append(t.Problems, fmt.Sprintf("schedule %s is invalid: %v", e.Title, err))
			continue
		}
		e.place.File = cmp.Or(e.place.File, l.Path)
		if l.Scope == tool.ScopeLocal {
			e.Project = ProjectOf(l.Path)
		}
		e.Name, e.Tool, e.Params, e.Source = ScheduleID(e.Title, e.Project), l.Name, p.Given(rule.Params), e.source()
		if t.addExcept(&e, rule) {
			t.addEntry(e)
		}
	}
}

// definitionFile returns a function that finds the file of a tool, "" for a tool without one.
func definitionFile(plan func(name string) (*engine.Plan, error)) func(string) string {
	return func(name string) string {
		if p, err := plan(name); err == nil {
			return p.Definition.File
		}
		return ""
	}
}

// addTriggers adds the entries of on of a definition.
func (t *Timetable) addTriggers(l library.Listed, p *engine.Plan, file func(name string) string) {
	for i, rule := range p.Definition.Triggers {
		e := Entry{Title: p.Definition.TriggerName(i), place: rule.Pos}
		e.place.File = cmp.Or(e.place.File, l.Path)
		if l.Scope == tool.ScopeLocal {
			e.Project = ProjectOf(l.Path)
		}
		var err error
		if e.Trigger, err = triggerOf(rule, e.Project, file); err != nil {
			t.Problems = append(t.Problems, fmt.Sprintf("the entry %s of on is invalid: %v", e.Title, err))
			continue
		}
		e.Schedule = schedule.Schedule{Name: ScheduleID(e.Title, e.Project), Tool: l.Name, Params: p.Given(rule.Params), Source: e.source(),
			Overlap: schedule.Overlap(cmp.Or(rule.Overlap, "queue")), CatchUp: schedule.CatchUp(cmp.Or(rule.CatchUp.Mode, "all")), Window: rule.CatchUp.Window}
		t.addEntry(e)
	}
}

// addEntry adds an entry, or a problem if there already is an entry with the same id.
func (t *Timetable) addEntry(e Entry) {
	if i := slices.IndexFunc(t.Entries, func(o Entry) bool { return o.Name == e.Name }); i >= 0 {
		t.Problems = append(t.Problems, fmt.Sprintf("schedule %s (%s) is ignored: another schedule has the same name (%s); rename one of them", e.Title, e.Source, t.Entries[i].Source))
		return
	}
	t.Entries = append(t.Entries, e)
}

// ScheduleID returns the id of a schedule in the history.
func ScheduleID(name, project string) string {
	if project == "" {
		return name
	}
	return name + "@" + project
}

// ProjectOf returns the project of a definition in a folder such as .flowrun/tools.
func ProjectOf(file string) string { return canonical(filepath.Dir(filepath.Dir(filepath.Dir(file)))) }

// ProjectHere returns the project that contains the working directory, or "".
func ProjectHere() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	if dir = library.ProjectRoot(dir); dir != "" {
		dir = canonical(dir)
	}
	return dir
}

// canonical resolves symbolic links, so that a link to a folder does not count as another project.
func canonical(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// AddedSchedule is what schedule add stores, in the notation of definitions.
type AddedSchedule struct {
	Cron             string            `json:"cron,omitempty"`
	Every            string            `json:"every,omitempty"`
	Timezone         string            `json:"timezone,omitempty"`
	Params           map[string]any    `json:"params,omitempty"`
	Labels           map[string]string `json:"labels,omitempty"`
	Overlap          string            `json:"overlap,omitempty"`
	CatchUp          string            `json:"catch-up,omitempty"`
	Window           string            `json:"catch-up-window,omitempty"`
	Max              int               `json:"catch-up-max,omitempty"`
	Jitter           string            `json:"jitter,omitempty"`
	Start            string            `json:"start,omitempty"`
	End              string            `json:"end,omitempty"`
	SkipIfSuccessful bool              `json:"skip-if-successful,omitempty"`
	Except           []string          `json:"except,omitempty"`
	ExceptFile       string            `json:"except-file,omitempty"`
	MustEndBy        string            `json:"must-end-by,omitempty"`
	PauseAfter       int               `json:"pause-after,omitempty"`
}

// Rule converts the plan to a rule of a definition. Durations must be valid; schedule add has
// validated them.
func (p AddedSchedule) Rule() *tool.Schedule {
	text := func(s string) *tool.Text {
		if s == "" {
			return nil
		}
		t := diagnostic.Plain(s)
		return &t
	}
	span := func(s string) time.Duration { d, _ := time.ParseDuration(s); return d }
	var except []*tool.Except
	for _, days := range p.Except {
		except = append(except, &tool.Except{Days: text(days)})
	}
	if p.ExceptFile != "" {
		except = append(except, &tool.Except{File: text(p.ExceptFile)})
	}
	return &tool.Schedule{Except: except, Labels: p.Labels, MustEndBy: text(p.MustEndBy), PauseAfter: p.PauseAfter, Cron: text(p.Cron), Every: span(p.Every), Timezone: text(p.Timezone), Overlap: p.Overlap,
		CatchUp: tool.CatchUp{Mode: p.CatchUp, Window: span(p.Window), Max: p.Max},
		Jitter:  span(p.Jitter), Start: text(p.Start), End: text(p.End), SkipIfSuccessful: p.SkipIfSuccessful}
}

// String returns the plan as it is stored.
func (p AddedSchedule) String() string {
	p.Params = rawtext.EncodeMap(p.Params)
	b, _ := json.Marshal(p) // cannot fail: only text, and parameters from JSON or the command line
	return string(b)
}

// All returns the schedules by name. t may be nil.
func (t *Timetable) All() []Entry {
	if t == nil {
		return nil
	}
	return t.Entries
}

// OfTool returns the schedules of a tool in the order of the list.
func (t *Timetable) OfTool(name string) []Entry {
	return slices.DeleteFunc(slices.Clone(t.Entries), func(e Entry) bool { return e.Tool != name })
}

// NotFoundError reports that no schedule has this id or name. Names are those of all schedules.
type NotFoundError struct {
	Word  string
	Names []string
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("cannot find schedule %q", e.Word) }

// AmbiguousError reports that several schedules have the same name.
type AmbiguousError struct {
	Word string
	IDs  []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q matches several schedules; use %s", e.Word, strings.Join(e.IDs, " or "))
}

// Find returns the schedule that a word means: by its id, otherwise by its name. If several have
// the name, the one of the current project takes precedence, then the one without a project. Errors: a *NotFoundError,
// an *AmbiguousError.
func (t *Timetable) Find(word string) (Entry, error) {
	var ids, names []string
	var found []Entry
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
		return Entry{}, &NotFoundError{Word: word, Names: names}
	case 1:
		return found[0], nil
	}
	return Entry{}, &AmbiguousError{Word: word, IDs: ids}
}
