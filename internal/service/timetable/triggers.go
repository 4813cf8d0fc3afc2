package timetable

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/home"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/service/trigger"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// Trigger is an entry of the key on, in a form that does not depend on the definition.
type Trigger struct {
	Kind string // file or after

	Folder  string // file: the pattern is relative to it
	Pattern string
	Settle  time.Duration

	Upstream string // after: the tool, and the file of its definition
	File     string
	Status   string // succeeded, failed or any
}

// Describe describes the event in words.
func (t *Trigger) Describe() string {
	if t.Kind == "file" {
		return "when a file of " + t.Pattern + " appears or changes"
	}
	how := map[string]string{"succeeded": "has succeeded", "failed": "has failed", "any": "has ended"}[t.Status]
	return "after " + t.Upstream + " " + how
}

// plan identifies the events. An entry whose plan has changed is a new one, which has nothing to catch up.
func (t *Trigger) plan() string {
	b, _ := json.Marshal(t) // cannot fail: only text and numbers
	return "on " + string(b)
}

// statuses returns the statuses of upstream runs that are events; nil: all.
func (t *Trigger) statuses() []string {
	switch t.Status {
	case "succeeded":
		return []string{"succeeded"}
	case "failed":
		return []string{"failed", "timed-out"}
	}
	return nil
}

// triggerOf converts an entry of on. file finds the definition of a tool.
func triggerOf(r *tool.Trigger, project string, file func(name string) string) (*Trigger, error) {
	if r.File == nil {
		return &Trigger{Kind: "after", Upstream: r.After.Tool.S, File: file(r.After.Tool.S), Status: orDefault(r.After.Status, "succeeded")}, nil
	}
	folder := project
	if folder == "" {
		var err error
		if folder, err = home.Dir(); err != nil {
			return nil, err
		}
	}
	return &Trigger{Kind: "file", Folder: folder, Pattern: r.File.Path.S, Settle: orDefault(r.File.Settle, tool.DefaultSettle)}, nil
}

func orDefault[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// event is something for which a trigger may start a run.
type event struct {
	key  int64
	at   time.Time
	late bool
	data eventValues
}

// eventValues are the data of an event by name, for {trigger.NAME}.
type eventValues map[string]string

// text returns the data as the history keeps them; eventData reads them. The path of a file may not be UTF-8.
func (d eventValues) text() string {
	kept := make(eventValues, len(d))
	for name, v := range d {
		kept[name] = rawtext.Encode(v)
	}
	b, _ := json.Marshal(kept) // cannot fail: only text
	return string(b)
}

// triggerInterval is how often a trigger looks for events. A test with real files makes it shorter.
var triggerInterval = 500 * time.Millisecond

const (
	// scanFactor is the minimum time between two readings of a folder as a multiple of the time that one took.
	scanFactor = 10
	// refusedInterval is how often a trigger whose tool may not run checks whether it may.
	refusedInterval = 5 * time.Second
	// onTime is the age up to which an event is not late.
	onTime = 10 * time.Second
	// queryInterval is how often an after reads the history even if nothing seems to have been written.
	queryInterval = 10 * time.Second
	// commitDelay is the longest time between the end of a run and the commit that records it.
	commitDelay = time.Hour
	// advanceInterval is how often a cursor moves forward when nothing happens.
	advanceInterval = 10 * time.Minute
)

// watcher finds the events of one trigger.
type watcher struct {
	s     *Scheduler
	id    string
	t     Trigger
	files *trigger.Files // nil for an after

	anchor  time.Time     // events before it are past
	cursor  time.Time     // the cursor in the history
	writes  sqlite.Writes // to the history at the last poll of an after that found nothing
	queried time.Time     // when that was
	started time.Time
	polled  bool
	refused bool
}

// run watches a trigger until ctx ends.
func (w *watcher) run(ctx context.Context) {
	for wait := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		began := time.Now()
		err := w.poll(ctx, began)
		wait = max(triggerInterval, scanFactor*time.Since(began))
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			w.s.log.Error("cannot check for events", "on", w.id, "error", err.Error())
			wait = refusedInterval
		case w.refused:
			wait = refusedInterval
		}
	}
}

// poll finds the events since the last poll and handles them. Those that could not be handled are found again.
func (w *watcher) poll(ctx context.Context, now time.Time) error {
	e, known := w.s.entry(w.id)
	if !known {
		return nil
	}
	if !w.mayRun(ctx, e) {
		return nil
	}
	if w.started.IsZero() {
		if err := w.begin(ctx, now); err != nil {
			return err
		}
	}
	events, cursor, err := w.find(ctx, now)
	if err != nil {
		return err
	}
	// What has happened since the poll began may have happened after the entry was paused.
	if e, known = w.s.entry(w.id); !known {
		w.forget()
		return nil
	}
	if err := w.handle(ctx, e, events, now); err != nil {
		w.forget()
		return err
	}
	w.polled = true
	if cursor.After(w.cursor) && (len(events) > 0 || cursor.Sub(w.cursor) > advanceInterval) {
		if err := w.s.firings.Advance(ctx, w.id, cursor); err != nil {
			return err
		}
		w.cursor = cursor
	}
	return nil
}

// mayRun reports whether the policy allows the tool: the files of one that it does not allow are not read.
func (w *watcher) mayRun(ctx context.Context, e Entry) bool {
	p, err := w.s.service.Tools.AnyPlan(e.Tool)
	if err == nil {
		err = w.s.service.Allows(p)
	}
	if err != nil && !w.refused && ctx.Err() == nil {
		w.s.log.Warn("events do not start the tool", "on", w.id, "tool", e.Tool, "reason", err.Error())
	}
	w.refused = err != nil
	return err == nil
}

// begin reads the position from the history.
func (w *watcher) begin(ctx context.Context, now time.Time) (err error) {
	now = now.Round(0)
	if w.anchor, err = w.s.firings.Watch(ctx, w.id, w.t.plan(), now); err != nil {
		return err
	}
	last, ok, err := w.s.firings.Cursor(ctx, w.id)
	if err != nil {
		return err
	}
	if w.cursor = w.anchor; ok && last.After(w.anchor) {
		w.cursor = last
	}
	w.started, w.writes = now, sqlite.Writes{}
	if w.t.Kind == "file" {
		w.files = trigger.NewFiles(w.t.Settle, w.cursor)
	}
	return nil
}

// forget makes the next poll begin again from the history.
func (w *watcher) forget() { w.started, w.polled = time.Time{}, false }

func (w *watcher) find(ctx context.Context, now time.Time) ([]event, time.Time, error) {
	if w.files != nil {
		return w.findFiles(ctx, now)
	}
	return w.findRuns(ctx, now)
}

// findFiles returns the files that appeared or changed. A version that was handled before the service was restarted is
// not an event again.
func (w *watcher) findFiles(ctx context.Context, now time.Time) (list []event, cursor time.Time, err error) {
	for _, c := range w.files.Step(now, trigger.Scan(w.t.Folder, w.t.Pattern)) {
		if !c.At().After(w.started) {
			first, last := trigger.Versions(c.Path, c.State)
			handled, err := w.s.firings.HasEvent(ctx, w.id, first, last)
			if err != nil {
				w.forget()
				return nil, cursor, err
			}
			if handled {
				continue
			}
		}
		list = append(list, event{key: trigger.Key(c.Path, c.State), at: c.At(), late: c.Late,
			data: eventValues{"path": c.Path, "name": filepath.Base(c.Path)}})
	}
	return list, w.files.Cursor(now), nil
}

// findRuns returns the runs of the upstream tool that have ended. A run that ended is recorded up to commitDelay later,
// so the cursor stays behind that much, and the history knows which runs were handled.
func (w *watcher) findRuns(ctx context.Context, now time.Time) (list []event, cursor time.Time, err error) {
	cursor = now.Add(-commitDelay)
	writes, err := w.s.store.File().Writes()
	if err != nil || w.writes.Unchanged(writes) && now.Sub(w.queried) < queryInterval {
		return nil, cursor, err
	}
	w.queried = now
	after := w.cursor
	if after.After(cursor) { // also if the clock was set back
		after = cursor
	}
	if after.Before(w.anchor) {
		after = w.anchor
	}
	ended, err := w.s.firings.EndedRuns(ctx, w.id, w.t.Upstream, w.t.File, w.t.statuses(), after)
	if err != nil {
		return nil, cursor, err
	}
	for _, r := range ended {
		list = append(list, event{key: r.Number, at: r.Ended, late: !w.polled && r.Ended.Before(now.Add(-onTime)),
			data: eventValues{"tool": w.t.Upstream, "run": r.ID, "status": r.Status}})
	}
	if len(list) == 0 {
		w.writes = writes
	}
	return list, cursor, nil
}

// handle claims or skips events, oldest first.
func (w *watcher) handle(ctx context.Context, e Entry, events []event, now time.Time) error {
	for i, reason := range w.missed(e, events, now) {
		if reason == "" {
			if err := w.fire(ctx, e, events[i]); err != nil {
				return err
			}
			continue
		}
		if err := w.s.firings.SkipEvent(ctx, e.Name, events[i].key, reason); err != nil {
			return err
		}
		w.s.log.Warn("event missed", "on", e.Name, "reason", reason, "event", eventText(events[i].data))
	}
	return nil
}

// missed returns for each event why it starts no run, "" if it does.
func (w *watcher) missed(e Entry, events []event, now time.Time) []string {
	reasons := make([]string, len(events))
	var late []int
	var ages []time.Duration
	for i, ev := range events {
		switch {
		case e.Paused:
			reasons[i] = "paused"
		case ev.late:
			late, ages = append(late, i), append(ages, now.Sub(ev.at))
		}
	}
	for i, skip := range trigger.Missed(e.CatchUp, e.Window, ages) {
		if skip {
			reasons[late[i]] = fmt.Sprintf("missed: no service was running (catch-up %s)", catchUpText(e.Schedule))
		}
	}
	return reasons
}

// fire claims an event and starts, queues or skips its run.
func (w *watcher) fire(ctx context.Context, e Entry, ev event) error {
	running, queued, err := w.s.Active(ctx, &e.Schedule)
	if err != nil {
		return err
	}
	action, reason := trigger.Decide(e.Overlap, running, queued)
	if action == schedule.Skip {
		err := w.s.firings.SkipEvent(ctx, e.Name, ev.key, reason)
		if err == nil {
			w.s.log.Info("event skipped", "on", e.Name, "reason", reason, "event", eventText(ev.data))
		}
		return err
	}
	run := w.s.NewID()
	mine, err := w.s.firings.ClaimEvent(ctx, e.Name, ev.key, run, ev.data.text())
	if err != nil || !mine {
		return err
	}
	f := schedule.Firing{Schedule: e.Schedule, Scheduled: schedule.ScheduledTime{At: ev.at, Due: ev.at, Late: ev.late}, Run: run, Action: action}
	f.Schedule.Params = e.paramsFor(ev.data)
	if err := w.s.Start(ctx, f); err != nil {
		w.s.report(schedule.Report{Kind: schedule.Failed, Schedule: e.Name, Scheduled: ev.at, Run: run, Err: err})
	}
	return nil
}

// paramsFor returns the parameters of a run, with the data of its event.
func (e Entry) paramsFor(data eventValues) map[string]any {
	params := make(map[string]any, len(e.Params))
	for name, v := range e.Params {
		params[name] = tool.FillTrigger(v, data)
	}
	return params
}

// paramsAt returns the parameters of a run for a scheduled time.
func (e Entry) paramsAt(at time.Time) map[string]any {
	params := make(map[string]any, len(e.Params))
	for name, v := range e.Params {
		params[name] = tool.FillSchedule(v, at.In(e.Zone()))
	}
	return params
}

// claimed returns the schedule with the parameters of a claimed firing.
func (e Entry) claimed(f sqlite.Firing) schedule.Schedule {
	s := e.Schedule
	if e.Trigger != nil {
		s.Params = e.paramsFor(eventData(f.Reason))
	} else {
		s.Params = e.paramsAt(f.Scheduled)
	}
	return s
}

// eventData returns the data of an event from the text that the history keeps.
func eventData(text string) (data eventValues) {
	_ = json.Unmarshal([]byte(text), &data) // a claim has no other text
	for name, v := range data {
		data[name] = rawtext.Decode(v)
	}
	return data
}

// eventText describes an event for people.
func eventText(data eventValues) string {
	if path, ok := data["path"]; ok {
		return "file " + strconv.Quote(path)
	}
	return "run " + data["run"] + " of " + data["tool"] + " (" + data["status"] + ")"
}

// watchTriggers keeps one watcher for each trigger of the current set.
func (s *Scheduler) watchTriggers(ctx context.Context) {
	type watched struct {
		plan string
		stop context.CancelFunc
	}
	active := map[string]watched{}
	for {
		var ids []string
		for _, e := range s.sortedEntries() {
			if e.Trigger == nil {
				continue
			}
			ids = append(ids, e.Name)
			plan := e.Trigger.plan()
			old, there := active[e.Name]
			if there && old.plan == plan {
				continue
			}
			if there {
				old.stop()
			}
			own, stop := context.WithCancel(ctx)
			active[e.Name] = watched{plan, stop}
			w := &watcher{s: s, id: e.Name, t: *e.Trigger}
			s.watching.Go(func() { w.run(own) })
		}
		for id, a := range active {
			if !slices.Contains(ids, id) {
				a.stop()
				delete(active, id)
			}
		}
		select {
		case <-ctx.Done():
			return // ctx has stopped the watchers
		case <-time.After(triggerInterval):
		}
	}
}
