package timetable

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// TestWeek runs a service for a week in which the clocks change, with outages, failures, a pause, deadlines, excepted days and
// a backfill of three months. What it fires must be what an oracle says that walks over the minutes of the week. The oracle
// shares no code with the scheduler: it has its own cron, and its own rules of overlap and catch-up.
func TestWeek(t *testing.T) {
	sizetest.Need(t, sizetest.Gate, "a week takes ten seconds of the processor")
	for name, first := range map[string]string{"spring": "2000-03-22", "autumn": "2000-10-25"} { // a Wednesday; the clocks change on Sunday
		t.Run(name, func(t *testing.T) {
			defer func(idle, queue, trigger time.Duration) {
				idleInterval, queueInterval, triggerInterval = idle, queue, trigger
			}(idleInterval, queueInterval, triggerInterval)
			idleInterval, queueInterval, triggerInterval = time.Minute, 10*time.Second, time.Hour
			synctest.Test(t, func(t *testing.T) { testWeek(t, first) })
		})
	}
}

// weekRule is a schedule of the week, in the oracle's own terms.
type weekRule struct {
	name                     string
	minutes, hours, weekdays []int // nil: any
	followsTime              bool  // the hour is * or has a step
	overlap, catchUp         string
	except                   int // a day of the week without times, counted from 0; -1: none
	pauseAfter               int
	mustEndBy                int // an hour of the day; 0: none
	takes                    func(local time.Time) time.Duration
	fails                    func(day, hour int) bool
}

func every(n, below int) (list []int) {
	for i := 0; i < below; i += n {
		list = append(list, i)
	}
	return list
}

func always(d time.Duration) func(time.Time) time.Duration {
	return func(time.Time) time.Duration { return d }
}

var weekRules = []weekRule{
	{name: "nightly", minutes: []int{30}, hours: []int{2}, overlap: "skip", catchUp: "once", except: 2, mustEndBy: 6, takes: always(60*time.Minute + 30*time.Second),
		fails: func(day, _ int) bool { return day == 3 }},
	{name: "quarter", minutes: every(15, 60), followsTime: true, overlap: "skip", catchUp: "none", except: -1,
		takes: func(at time.Time) time.Duration {
			if at.Hour()%3 == 0 && at.Minute() == 0 {
				return 20*time.Minute + 30*time.Second
			}
			return 3*time.Minute + 30*time.Second
		}},
	{name: "hourly", minutes: []int{0}, followsTime: true, overlap: "queue", catchUp: "once", except: -1, pauseAfter: 3,
		takes: func(at time.Time) time.Duration {
			if at.Hour()%6 == 0 {
				return 70*time.Minute + 30*time.Second
			}
			return 10*time.Minute + 30*time.Second
		},
		fails: func(day, hour int) bool { return day == 2 && hour >= 10 && hour <= 15 }},
	{name: "even", minutes: []int{0}, hours: every(2, 24), followsTime: true, overlap: "skip", catchUp: "all", except: -1, takes: always(4*time.Minute + 30*time.Second)},
	{name: "workday", minutes: []int{0}, hours: []int{8}, weekdays: []int{1, 2, 3, 4, 5}, overlap: "allow", catchUp: "all", except: 5, takes: always(330 * time.Second)},
	{name: "past", minutes: []int{15}, hours: []int{2, 6}, weekdays: []int{0, 4}, overlap: "skip", catchUp: "none", except: -1, takes: always(3*time.Minute + 30*time.Second)},
}

// definition returns the tool of a rule.
func (r weekRule) definition(first time.Time) string {
	field := func(values []int) string {
		if values == nil {
			return "*"
		}
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", ","), "[]")
	}
	hours := field(r.hours)
	if r.followsTime && r.hours != nil {
		hours = "*/2"
	}
	text := fmt.Sprintf("name: %s\ndescription: d\nbash: echo\nschedule:\n  cron: \"%s %s * * %s\"\n  timezone: Europe/Zurich\n  overlap: %s\n  catch-up: %s\n",
		r.name, field(r.minutes), hours, field(r.weekdays), r.overlap, r.catchUp)
	if r.except >= 0 {
		text += "  except: " + first.AddDate(0, 0, r.except).Format(time.DateOnly) + "\n"
	}
	if r.pauseAfter > 0 {
		text += fmt.Sprintf("  pause-after: %d\n", r.pauseAfter)
	}
	if r.mustEndBy > 0 {
		text += fmt.Sprintf("  must-end-by: \"%02d:00\"\n", r.mustEndBy)
	}
	return text
}

// weekMoment is a time of the week in which something happens.
type weekMoment struct {
	day   int
	clock string
	what  string // down, up or resume
}

var weekMoments = []weekMoment{
	{1, "01:37", "down"}, {1, "09:07", "up"},
	{2, "16:40", "resume"},
	{2, "21:05", "down"}, {2, "21:17", "up"}, // while a run of quarter is active
	{3, "23:07", "down"}, {4, "05:37", "up"}, // over the change of the clocks
}

func (m weekMoment) at(first time.Time) time.Time {
	clock, _ := time.Parse("15:04", m.clock)
	day := first.AddDate(0, 0, m.day)
	return time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), 0, 0, first.Location())
}

// weekStage is a stage whose runs end after a while.
type weekStage struct {
	*stage
	first time.Time
}

func (s *weekStage) Start(ctx context.Context, r service.Request) (string, error) {
	open, err := s.store.Firings().Open(ctx)
	if err != nil {
		return "", err
	}
	id, err := s.stage.Start(ctx, r)
	if err != nil {
		return id, err
	}
	i := slices.IndexFunc(open, func(f sqlite.Firing) bool { return f.Run == id })
	if i < 0 {
		return id, fmt.Errorf("run %s has no scheduled time", id)
	}
	local := open[i].Scheduled.In(s.first.Location())
	rule := weekRules[slices.IndexFunc(weekRules, func(w weekRule) bool { return w.name == r.Tool })]
	time.AfterFunc(rule.takes(local), func() {
		status := dag.Succeeded
		if rule.fails != nil && rule.fails(dayOf(s.first, local), local.Hour()) {
			status = dag.Failed
		}
		s.end(id, status)
	})
	return id, nil
}

// dayOf returns the number of the day in the week.
func dayOf(first, local time.Time) int {
	return int((time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC).Unix() -
		time.Date(first.Year(), first.Month(), first.Day(), 0, 0, 0, 0, time.UTC).Unix()) / (24 * 3600))
}

func testWeek(t *testing.T, day string) {
	zone, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		t.Fatal(err)
	}
	first, _ := time.ParseInLocation(time.DateOnly, day, zone)
	var tools []string
	for _, r := range weekRules {
		tools = append(tools, r.definition(first))
	}
	s := &weekStage{newStage(t, tools...), first}
	time.Sleep(time.Until(first))
	serve := func() (*Scheduler, func()) {
		return Start(t.Context(), s.lib, s.store, Service{Starter: s, Control: s, Tools: s, Allows: s.Allows, NeedsPerson: s.NeedsPerson, Alarm: s.alarm},
			slog.New(slog.NewTextHandler(&s.log, nil)), func(schedule.Report) {})
	}
	f, stop := serve()
	time.Sleep(time.Minute)
	from := first.AddDate(0, -3, 0)
	if _, err := f.Backfill(t.Context(), "past", from, first, 3, false); err != nil {
		t.Fatal(err)
	}
	for _, m := range weekMoments {
		time.Sleep(time.Until(m.at(first)))
		switch m.what {
		case "down":
			stop()
		case "up":
			f, stop = serve()
		case "resume":
			if err := f.Pause(t.Context(), "hourly", false); err != nil {
				t.Fatal(err)
			}
		}
	}
	end := first.AddDate(0, 0, 7)
	time.Sleep(time.Until(end.Add(-time.Minute)))
	stop()
	time.Sleep(3 * time.Hour) // the runs end

	for _, r := range weekRules {
		o := oracle{rule: r, first: first, end: end.Add(-time.Minute)}
		want := o.walk()
		if r.name == "past" {
			want = append(o.times(from, first), want...)
		}
		var got []string
		list, err := s.store.Firings().Between(t.Context(), s.id(r.name), from.Add(-time.Nanosecond), end, -1)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			switch text := weekText(f.Scheduled.In(zone)); {
			case f.Run != "":
				got = append(got, text)
			case strings.HasPrefix(f.Reason, "overlap"):
				got = append(got, "skip "+text)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) < 4 {
			t.Errorf("%s: %s", r.name, diff)
		}
		var late []string
		for _, a := range s.alarmed() {
			if rest, ok := strings.CutPrefix(a, r.name+" the run of "); ok {
				late = append(late, rest[:len("2000-01-01 00:00:00 +00:00")])
			}
		}
		if diff := cmp.Diff(o.late, late); diff != "" {
			t.Errorf("%s is late: %s", r.name, diff)
		}
		if pauses := slices.Contains(s.alarmed(), r.name+" 3 failures in a row"); pauses != o.wasPaused {
			t.Errorf("%s was paused: %v", r.name, pauses)
		}
	}
}

func weekText(t time.Time) string { return t.Format("2006-01-02 15:04:05 -07:00") }

// oracle walks over the minutes of the week for one schedule.
type oracle struct {
	rule       weekRule
	first, end time.Time

	fired     []string
	late      []string
	wasPaused bool

	runs   []oracleRun
	queue  []time.Time
	row    int // failures in a row
	paused bool
	checks []oracleCheck
}

type oracleRun struct {
	slot, ends time.Time
	done       bool
}

// oracleCheck is a scheduled time that must have a successful run by a deadline.
type oracleCheck struct {
	slot, by time.Time
}

func (o *oracle) walk() []string {
	up := true
	var missed []time.Time
	for at := o.first.Add(time.Minute); at.Before(o.end); at = at.Add(time.Minute) {
		o.endRuns(at)
		for _, m := range weekMoments {
			switch {
			case !m.at(o.first).Equal(at):
			case m.what == "down":
				up = false
			case m.what == "up":
				up = true
				o.catchUp(missed, at)
				missed = nil
			case o.rule.pauseAfter > 0: // resume
				o.paused, o.row = false, 0
			}
		}
		if up && len(o.queue) > 0 && o.active() == 0 {
			slot := o.queue[0]
			o.queue = o.queue[1:]
			o.begin(slot, at)
		}
		switch {
		case !o.matches(at):
		case !up:
			missed = append(missed, at)
		case !o.paused:
			o.fire(at, at, 0)
		}
	}
	o.endRuns(o.end.Add(24 * time.Hour))
	for _, c := range o.checks {
		i := slices.IndexFunc(o.runs, func(r oracleRun) bool { return r.slot.Equal(c.slot) })
		if c.by.Before(o.end) && (i < 0 || o.failed(c.slot) || o.runs[i].ends.After(c.by)) {
			o.late = append(o.late, weekText(c.slot))
		}
	}
	slices.Sort(o.late)
	slices.SortFunc(o.fired, func(x, y string) int { // by time; the offset counts when the clocks go back
		parse := func(text string) time.Time {
			t, _ := time.Parse("2006-01-02 15:04:05 -07:00", strings.TrimPrefix(text, "skip "))
			return t
		}
		return parse(x).Compare(parse(y))
	})
	return o.fired
}

// times returns the scheduled times of a range.
func (o *oracle) times(from, to time.Time) (list []string) {
	for at := from; at.Before(to); at = at.Add(time.Minute) {
		if o.matches(at) {
			list = append(list, weekText(at))
		}
	}
	return list
}

// matches reports whether a minute is a scheduled time.
func (o *oracle) matches(at time.Time) bool {
	if o.rule.except >= 0 && dayOf(o.first, at) == o.rule.except {
		return false
	}
	_, offset := at.Zone()
	_, before := at.Add(-time.Minute).Zone()
	_, hourAgo := at.Add(-time.Hour).Zone()
	reading := at.UTC().Add(time.Duration(offset) * time.Second) // what the clock shows, as a time in UTC
	switch {
	case o.rule.followsTime:
	case offset > before: // skipped times run now, once
		for skipped := reading.Add(-time.Duration(offset-before) * time.Second); skipped.Before(reading); skipped = skipped.Add(time.Minute) {
			if o.shows(skipped) {
				return true
			}
		}
	case offset < hourAgo: // the clock has shown this before
		return false
	}
	return o.shows(reading)
}

func (o *oracle) shows(reading time.Time) bool {
	in := func(list []int, n int) bool { return list == nil || slices.Contains(list, n) }
	return in(o.rule.minutes, reading.Minute()) && in(o.rule.hours, reading.Hour()) && in(o.rule.weekdays, int(reading.Weekday()))
}

func (o *oracle) active() (n int) {
	for _, r := range o.runs {
		if !r.done {
			n++
		}
	}
	return n
}

func (o *oracle) failed(slot time.Time) bool {
	return o.rule.fails != nil && o.rule.fails(dayOf(o.first, slot), slot.Hour())
}

func (o *oracle) endRuns(at time.Time) {
	for i := range o.runs {
		r := &o.runs[i]
		if r.done || r.ends.After(at) {
			continue
		}
		r.done = true
		if o.row++; !o.failed(r.slot) {
			o.row = 0
		}
		if o.rule.pauseAfter > 0 && o.row >= o.rule.pauseAfter {
			o.paused, o.wasPaused = true, true
		}
	}
}

func (o *oracle) begin(slot, at time.Time) {
	o.runs = append(o.runs, oracleRun{slot: slot, ends: at.Add(o.rule.takes(slot))})
}

// catchUp handles the times of an outage.
func (o *oracle) catchUp(missed []time.Time, at time.Time) {
	fire := missed
	switch {
	case len(missed) == 0 || o.rule.catchUp == "all":
	case o.rule.catchUp == "none":
		fire = nil
	case o.rule.catchUp == "once":
		fire = missed[len(missed)-1:]
	}
	for _, slot := range missed[:len(missed)-len(fire)] {
		o.expect(slot)
	}
	for i, slot := range fire {
		o.fire(slot, at, i)
	}
}

// expect notes the deadline of a time.
func (o *oracle) expect(slot time.Time) {
	if h := o.rule.mustEndBy; h > 0 {
		by := time.Date(slot.Year(), slot.Month(), slot.Day(), h, 0, 0, 0, slot.Location())
		o.checks = append(o.checks, oracleCheck{slot, by})
	}
}

// fire handles a scheduled time. ahead is how many times of the same catch-up come before it.
func (o *oracle) fire(slot, at time.Time, ahead int) {
	o.expect(slot)
	text := weekText(slot)
	switch {
	case o.rule.overlap == "allow" || o.active()+len(o.queue) == 0:
		o.begin(slot, at)
	case ahead > 0 || o.rule.overlap == "queue" && len(o.queue) == 0:
		o.queue = append(o.queue, slot)
	default:
		text = "skip " + text
	}
	o.fired = append(o.fired, text)
}
