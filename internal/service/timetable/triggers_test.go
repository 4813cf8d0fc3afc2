package timetable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

const (
	upstream = "name: up\ndescription: d\nbash: echo up\n"
	afterUp  = "name: t\ndescription: d\nbash: echo {A}\nparameters:\n  A: {description: a, default: x}\non:\n"
)

// upstreamRun records a run of the tool up that has ended, as another process does.
func (s *stage) upstreamRun(id string, status dag.Status) {
	s.Helper()
	l, err := s.store.Begin(s.Context(), &history.Record{ID: id, Tool: "up", Created: time.Now()})
	if err != nil {
		s.Fatal(err)
	}
	s.mu.Lock()
	s.ledgers[id] = l
	s.mu.Unlock()
	s.end(id, status)
	time.Sleep(time.Millisecond) // the next one ends later
}

// started returns the parameter A of the runs that were started, sorted.
func (s *stage) started() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.Clone(s.params)
	slices.Sort(list)
	return list
}

func (s *stage) wantStarted(want ...string) {
	s.Helper()
	waittest.Until(s, fmt.Sprint("the runs ", want), func() bool { return len(s.started()) >= len(want) })
	time.Sleep(15 * time.Second) // nothing else follows
	if got := s.started(); !slices.Equal(got, want) {
		s.Errorf("started %v, want %v", got, want)
	}
}

// watched waits until the service watches an entry.
func (s *stage) watched(name string) {
	s.Helper()
	waittest.Until(s, name+" is watched", func() bool {
		_, ok, err := s.store.Firings().Cursor(s.Context(), s.id(name))
		return ok && err == nil
	})
}

// afterTable returns which ends of a run start another one, by the status of after, as docs/reference/triggers.md has it.
func afterTable(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/reference/triggers.md")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]dag.Status{"succeeded": dag.Succeeded, "failed": dag.Failed, "timed out": dag.TimedOut, "was cancelled": dag.Cancelled}
	starts := map[string][]string{}
	rows := regexp.MustCompile(`(?m)^\| ([a-z ]+) \| (yes|no) \| (yes|no) \| (yes|no) \|$`).FindAllStringSubmatch(string(page), -1)
	for _, row := range rows {
		for i, status := range []string{"succeeded", "failed", "any"} {
			if row[2+i] == "yes" {
				starts[status] = append(starts[status], words[row[1]].String())
			}
		}
	}
	if len(rows) != 5 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	return map[string][]string{"": starts["succeeded"], ", status: succeeded": starts["succeeded"], ", status: failed": starts["failed"], ", status: any": starts["any"]}
}

// TestAfterStatus tries every row of the table of after in docs/reference/triggers.md for runs that have ended.
func TestAfterStatus(t *testing.T) {
	ends := []dag.Status{dag.Succeeded, dag.Failed, dag.TimedOut, dag.Cancelled}
	for status, want := range afterTable(t) {
		slices.Sort(want)
		t.Run(status, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, upstream, afterUp+"  - {after: {tool: up"+status+"}, overlap: allow, params: {A: '{trigger.status}'}}\n")
				s.upstreamRun("before", dag.Succeeded) // the entry begins when a service first sees it
				s.serve()
				s.watched("t.on")
				for _, end := range ends {
					s.upstreamRun(end.String(), end)
				}
				s.wantStarted(want...)
			})
		})
	}
}

// TestAfterCatchUp: what catch-up does about runs that ended while no service was running.
func TestAfterCatchUp(t *testing.T) {
	for catchUp, want := range map[string][]string{
		"":                                     {"r1", "r2", "r3"},
		", catch-up: all":                      {"r1", "r2", "r3"},
		", catch-up: once":                     {"r3"},
		", catch-up: none":                     {},
		", catch-up: {window: 90m}":            {"r2", "r3"},
		", catch-up: {mode: none, window: 1h}": {},
	} {
		t.Run(catchUp, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, upstream, afterUp+"  - {after: {tool: up}, overlap: allow, params: {A: '{trigger.run}'}"+catchUp+"}\n")
				_, stop := s.serve()
				s.watched("t.on")
				stop()
				for _, id := range []string{"r1", "r2", "r3"} {
					time.Sleep(time.Hour)
					s.upstreamRun(id, dag.Succeeded)
				}
				time.Sleep(time.Minute)
				_, stop = s.serve()
				s.wantStarted(want...)
				stop()
				s.serve() // nothing is caught up twice
				s.wantStarted(want...)
			})
		})
	}
}

// TestAfterOverlap is the truth table of overlap in docs/reference/triggers.md.
func TestAfterOverlap(t *testing.T) {
	for overlap, want := range map[string]struct {
		started []string // while the first run is active
		later   []string // when it and those after it have ended
	}{
		"":                          {[]string{"r1"}, []string{"r1", "r2", "r3"}},
		", overlap: queue":          {[]string{"r1"}, []string{"r1", "r2", "r3"}},
		", overlap: skip":           {[]string{"r1"}, []string{"r1"}},
		", overlap: allow":          {[]string{"r1", "r2", "r3"}, []string{"r1", "r2", "r3"}},
		", overlap: cancel-running": {[]string{"r1", "r2", "r3"}, []string{"r1", "r2", "r3"}},
	} {
		t.Run(overlap, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, upstream, afterUp+"  - {after: {tool: up}, params: {A: '{trigger.run}'}"+overlap+"}\n")
				s.serve()
				s.watched("t.on")
				for i, id := range []string{"r1", "r2", "r3"} {
					s.upstreamRun(id, dag.Succeeded)
					if i == 0 || strings.Contains(overlap, "cancel") {
						waittest.Until(s, "its run has started", func() bool { return slices.Contains(s.started(), id) })
					}
				}
				s.wantStarted(want.started...)
				for range want.later {
					for _, id := range s.running() {
						s.end(id, dag.Succeeded)
					}
					time.Sleep(15 * time.Second)
				}
				s.wantStarted(want.later...)
			})
		})
	}
}

// TestClaimedEvent: a service that was killed between the claim of an event and the start of its run loses nothing, and
// starts nothing twice.
func TestClaimedEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, upstream, afterUp+"  - {after: {tool: up}, params: {A: '{trigger.run} {trigger.tool}'}}\n")
		_, stop := s.serve()
		s.watched("t.on")
		stop()
		s.upstreamRun("r1", dag.Succeeded)
		f := s.store.Firings()
		ended, err := f.EndedRuns(t.Context(), s.id("t.on"), "up", "", nil, time.Time{})
		if err != nil || len(ended) != 1 {
			t.Fatal(ended, err)
		}
		mine, err := f.ClaimEvent(t.Context(), s.id("t.on"), ended[0].Number, "claimed", `{"run":"r1","tool":"up"}`)
		if err != nil || !mine {
			t.Fatal(mine, err)
		}
		_, stop = s.serve()
		s.wantStarted("r1 up")
		if got := s.running(); !slices.Equal(got, []string{"claimed"}) {
			t.Error("runs:", got)
		}
		info, err := s.store.Info(t.Context(), "claimed")
		if err != nil || info.Origin != "after:"+s.id("t.on") {
			t.Errorf("origin %q, %v", info.Origin, err)
		}
		stop()
		s.serve()
		s.wantStarted("r1 up")
	})
}

// TestTwoServicesOneEvent: two services on one history start one run for each event.
func TestTwoServicesOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, upstream, afterUp+"  - {after: {tool: up}, overlap: allow, params: {A: '{trigger.run}'}}\n")
		s.serve()
		s.serve()
		s.watched("t.on")
		for _, id := range []string{"r1", "r2", "r3"} {
			s.upstreamRun(id, dag.Succeeded)
		}
		s.wantStarted("r1", "r2", "r3")
	})
}

// TestPausedEvents: events that happen while their entry is paused start nothing, also not later.
func TestPausedEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, upstream, afterUp+"  - {after: {tool: up}, params: {A: '{trigger.run}'}}\n")
		f, _ := s.serve()
		s.watched("t.on")
		if err := f.Pause(t.Context(), "t.on", true); err != nil {
			t.Fatal(err)
		}
		s.upstreamRun("r1", dag.Succeeded)
		s.wantStarted()
		if err := f.Pause(t.Context(), "t.on", false); err != nil {
			t.Fatal(err)
		}
		s.upstreamRun("r2", dag.Succeeded)
		s.wantStarted("r2")
	})
}

// TestRefusedTool: a tool that the policy does not allow is not watched, and starts when it is allowed.
func TestRefusedTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, upstream, afterUp+"  - {after: {tool: up}, params: {A: '{trigger.run}'}}\n")
		s.refusing(errors.New("nobody approved it"))
		s.serve()
		time.Sleep(time.Minute)
		if _, ok, _ := s.store.Firings().Cursor(t.Context(), s.id("t.on")); ok {
			t.Error("it is watched")
		}
		s.refusing(nil)
		s.watched("t.on")
		s.upstreamRun("r1", dag.Succeeded)
		s.wantStarted("r1")
	})
}

// TestOtherUpstream: a tool with the same name but another definition does not count.
func TestOtherUpstream(t *testing.T) {
	s := newStage(t)
	for i, file := range []string{"/a/up.yaml", "/b/up.yaml", "/\xff/up.yaml"} {
		l, err := s.store.Begin(t.Context(), &history.Record{ID: fmt.Sprint("r", i), Tool: "up", Created: time.Now(), Sources: []tool.Source{{Name: "up", File: file, Text: []byte(file), Digest: tool.DigestOf([]byte(file))}}})
		if err != nil {
			t.Fatal(err)
		}
		s.ledgers[fmt.Sprint("r", i)] = l
		s.end(fmt.Sprint("r", i), dag.Succeeded)
	}
	for file, want := range map[string]string{"/a/up.yaml": "r0", "/b/up.yaml": "r1", "/\xff/up.yaml": "r2", "": "r0 r1 r2", "/c/up.yaml": "", "/\xfe/up.yaml": ""} {
		list, err := s.store.Firings().EndedRuns(t.Context(), "x", "up", file, []string{"succeeded", "failed"}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range list {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// TestFileEvents: files start runs with their paths, also those that arrived while no service was running, and none twice.
func TestFileEvents(t *testing.T) {
	interval := triggerInterval
	t.Cleanup(func() { triggerInterval = interval }) // after the services have ended
	triggerInterval = 20 * time.Millisecond
	s := newStage(t, afterUp+"  - {file: {path: 'in/**/*.csv', settle: 100ms}, overlap: allow, params: {A: '{trigger.name}'}}\n")
	put := func(name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	until := func(want ...string) {
		t.Helper()
		waittest.Until(s, fmt.Sprint(want), func() bool { return slices.Equal(s.started(), want) }, func() any { return s.started() })
	}
	put("in/old.csv")
	time.Sleep(200 * time.Millisecond) // the clock of files is behind
	_, stop := s.serve()
	s.watched("t.on")
	put("in/a.csv")
	put("in/deep/{trigger.path}.csv") // the name is data
	put("in/other.txt")
	until("a.csv", "{trigger.path}.csv")
	stop()
	put("in/b.csv")
	_, stop = s.serve()
	until("a.csv", "b.csv", "{trigger.path}.csv")
	if err := os.Chmod("in/a.csv", 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename("in/b.csv", "in/c.csv"); err != nil {
		t.Fatal(err)
	}
	until("a.csv", "b.csv", "c.csv", "{trigger.path}.csv")
	stop()
	s.serve()
	put("in/d.csv")
	until("a.csv", "b.csv", "c.csv", "d.csv", "{trigger.path}.csv")
	f, _, err := s.store.Firings().LastEvent(t.Context(), s.id("t.on"))
	if path := eventData(f.Reason)["path"]; err != nil || !filepath.IsAbs(path) || filepath.Base(path) != "d.csv" {
		t.Errorf("%+v %v", f, err)
	}
}

// names are names of files and values of which JSON keeps some only in another form.
var names = []string{"caf\xe9.csv", "\xff", "\xed\xa0\x80", "100%E9", "😀", "a\r\nb"}

// TestParamsOfBytes checks that a schedule that was added keeps its parameters.
func TestParamsOfBytes(t *testing.T) {
	for _, name := range names {
		want := map[string]any{"A": name, "L": []any{name}}
		var table Timetable
		table.addStored(sqlite.Schedule{ID: "s", Name: "s", Tool: "t", Plan: AddedSchedule{Every: "1h", Params: want}.String()})
		if len(table.Entries) != 1 || !cmp.Equal(table.Entries[0].Params, want) {
			t.Errorf("%q: %+v, %q", name, table.Entries, table.Problems)
		}
	}
}

// TestFileNamesOfBytes checks that the data of an event keep the name of a file that is not UTF-8: a run that a service did
// not start before it was killed is started with the same file.
func TestFileNamesOfBytes(t *testing.T) {
	s := newStage(t, afterUp)
	for i, name := range names {
		e := Entry{Schedule: schedule.Schedule{Params: map[string]any{"A": "{trigger.path}"}}, Trigger: &Trigger{Kind: "file"}}
		e.Name = s.id("t.on")
		f := s.store.Firings()
		data := eventValues{"path": "/in/" + name}
		if mine, err := f.ClaimEvent(t.Context(), e.Name, int64(i+1), fmt.Sprint("r", i), data.text()); err != nil || !mine {
			t.Fatal(mine, err)
		}
		list, err := f.Open(t.Context())
		if err != nil || len(list) != i+1 {
			t.Fatal(list, err)
		}
		if got := e.claimed(list[i]).Params["A"]; got != "/in/"+name {
			t.Errorf("%q becomes %q", name, got)
		}
	}
}
