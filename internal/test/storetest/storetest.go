package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// Lapser is a Store whose owners can lose a run while they are alive.
type Lapser interface {
	history.Store
	// Lapse makes the owner of the run look dead. It returns the Store as another process
	// sees it.
	Lapse(t *testing.T, run string) history.Store
}

// Test tests a Store against the contract. Each call of open must return an empty Store and
// close it at the end of the test. For a Lapser there are more tests.
func Test(t *testing.T, open func(t *testing.T) history.Store) {
	for name, test := range map[string]func(*testing.T, history.Store){
		"Record":      testRecord,
		"Begin":       testBegin,
		"NoRun":       testNoRun,
		"Events":      testEvents,
		"Paging":      testPaging,
		"RunInfo":     testRunInfo,
		"Lists":       testLists,
		"FindRun":     testFindRun,
		"Claim":       testClaim,
		"Fenced":      testFenced,
		"Lapsed":      testLapsed,
		"Cancel":      testCancel,
		"Answers":     testAnswers,
		"ManyAnswers": testManyAnswers,
		"Suspend":     testSuspend,
		"Copies":      testCopies,
		"Concurrency": testConcurrency,
		"RetryAt":     testRetryAt,
		"RetryOnce":   testRetryOnce,
		"Artifacts":   testArtifacts,

		"State":          testState,
		"StateSeen":      testStateSeen,
		"StateSeenOfOne": testStateSeenOfOne,
		"StateMessage":   testStateMessage,
		"StateRefused":   testStateRefused,
		"StateAtOnce":    testStateAtOnce,
		"StateHistory":   testStateHistory,
		"StateParallel":  testStateParallel,

		"Queue":        testQueue,
		"QueueFair":    testQueueFair,
		"QueueBytes":   testQueueBytes,
		"QueueLeave":   testQueueLeave,
		"QueueDeath":   testQueueDeath,
		"QueueResume":  testQueueResume,
		"QueueLong":    testQueueLong,
		"QueueSuspend": testQueueSuspend,
		"QueueHold":    testQueueHold,
		"QueueSteps":   testQueueSteps,
		"QueueDeaths":  testQueueStepsDeath,
		"QueueRate":    testQueueRate,
		"QueueLost":    testQueueLost,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

var runStart = time.Date(2026, 11, 21, 10, 0, 0, 123456789, time.UTC)

// record returns the record of a run of a tool.
func record(id, name string) *history.Record {
	return &history.Record{ID: id, Tool: name, Created: runStart, Params: map[string]any{}, Given: map[string]any{}}
}

func begin(t *testing.T, s history.Store, r *history.Record) history.Ledger {
	t.Helper()
	l, err := s.Begin(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func claim(t *testing.T, s history.Store, id string, seq uint64) history.Ledger {
	t.Helper()
	l, err := s.Claim(context.Background(), id, seq)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// turn returns events with the numbers first to last.
func turn(run string, first, last uint64) []dag.Event {
	var list []dag.Event
	for seq := first; seq <= last; seq++ {
		list = append(list, dag.Event{V: dag.EventVersion, Seq: seq, Run: run, Kind: dag.StepStarted, Node: "a", Attempt: 1, Time: runStart.Add(time.Duration(seq))})
	}
	return list
}

// end returns the last event of a run.
func end(run string, seq uint64, status dag.Status) dag.Event {
	return dag.Event{V: dag.EventVersion, Seq: seq, Run: run, Kind: dag.RunFinished, Time: runStart.Add(time.Minute),
		Result: &dag.Result{Status: status, ExitCode: 3, Reason: "exit", Message: "a failed", Started: runStart, Ended: runStart.Add(time.Minute)}}
}

func appendAll(t *testing.T, l history.Ledger, events ...dag.Event) {
	t.Helper()
	if err := l.Append(context.Background(), events); err != nil {
		t.Fatal(err)
	}
}

func info(t *testing.T, s history.Store, id string) history.RunInfo {
	t.Helper()
	i, err := s.Info(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// allEvents reads events until there are no more.
func allEvents(t *testing.T, s history.Store, id string) []dag.Event {
	t.Helper()
	var list []dag.Event
	for after := uint64(0); ; after = list[len(list)-1].Seq {
		part, err := s.Events(context.Background(), id, after)
		if err != nil {
			t.Fatal(err)
		}
		if len(part) == 0 {
			return list
		}
		list = append(list, part...)
	}
}

func want(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("the error is %v, want %v", err, target)
	}
}

var ignoreUnexported = cmpopts.IgnoreUnexported(dag.Event{})

func testRecord(t *testing.T, s history.Store) {
	r := record("r1", "deploy")
	r.RetryOf, r.Origin = "r0", "schedule:nightly"
	r.Params = map[string]any{"TOKEN": "***", "LIST": []any{"a", true, nil, map[string]any{"x": "<&>"}}}
	r.Given = map[string]any{"NAME": "O'Hara\x00\u2028"}
	r.Withheld = []string{"TOKEN"}
	r.Flowrun, r.Variables = "1.2.3", []string{"HOME", "PATH"}
	r.Labels = map[string]string{"team": "ops", "cost-center": "4711 \"a\""}
	r.RunEnv = history.RecordedEnv{Workspace: "/w", Home: "/h", Temp: "/t", Time: runStart, AllowDash: true}
	r.Trace = history.TraceContext{Parent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", State: "vendor=1"}
	for _, text := range []string{"name: deploy\n", "", "\xff\x00 not text", "name: deploy\n"} {
		r.Sources = append(r.Sources, tool.Source{From: "/w/a.yaml", Name: "x", File: fmt.Sprintf("/w/%d.yaml", len(r.Sources)),
			Scope: tool.ScopeLocal, Digest: tool.DigestOf([]byte(text)), Text: []byte(text)})
	}
	begin(t, s, r)
	// Every run that has a text gets it back.
	other := record("r2", "deploy")
	other.Sources = r.Sources
	begin(t, s, other)
	for _, r := range []*history.Record{r, other} {
		got, err := s.Record(context.Background(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, got, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	}
	for _, text := range []string{"caf\xe9", "\xff", "\xed\xa0\x80", "\x00caf%E9", "100%", "😀", "a\r\nb"} {
		r := record("bytes"+fmt.Sprintf("%x", text), "deploy")
		r.Given = map[string]any{text: text, "LIST": []any{text, map[string]any{text: text}}}
		r.Params, r.Withheld, r.Variables = r.Given, []string{text}, []string{text}
		r.RunEnv = history.RecordedEnv{Workspace: text, Home: text, Temp: text, TrustedProject: text}
		r.Sources = []tool.Source{{From: text, Name: text, File: text, Digest: tool.DigestOf(nil)}}
		begin(t, s, r)
		got, err := s.Record(context.Background(), r.ID)
		if diff := cmp.Diff(r, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
		listed, err := s.Runs(context.Background(), history.Query{WithParams: true, Limit: 1})
		if err != nil || len(listed) != 1 || !cmp.Equal(listed[0].Params, r.Params) {
			t.Errorf("%q: %v, %v", text, err, listed)
		}
	}
	// Numbers keep all digits.
	r = record("r3", "deploy")
	r.Given["N"] = int64(9007199254740993)
	begin(t, s, r)
	got, err := s.Record(context.Background(), "r3")
	if err != nil || fmt.Sprint(got.Given["N"]) != "9007199254740993" {
		t.Error(got, err)
	}
}

func testBegin(t *testing.T, s history.Store) {
	ctx := context.Background()
	r := record("r1", "deploy")
	r.RetryOf, r.Origin = "r0", "api"
	l := begin(t, s, r)
	if l.Epoch() != 1 {
		t.Error("the first owner's epoch is", l.Epoch())
	}
	if _, err := s.Begin(ctx, r); err == nil || !strings.Contains(err.Error(), "r1") {
		t.Errorf("two runs of one id: %v", err)
	}
	wrong := record("r2", "deploy")
	wrong.Sources = []tool.Source{{File: "/w/a.yaml", Digest: tool.DigestOf(nil), Text: []byte("x")}}
	if _, err := s.Begin(ctx, wrong); err == nil {
		t.Error("a text without its digest was kept")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err := s.Begin(cancelled, record("r3", "deploy"))
	want(t, err, context.Canceled)
	list, err := s.Runs(ctx, history.Query{})
	expected := []history.RunInfo{{ID: "r1", Tool: "deploy", RetryOf: "r0", Origin: "api", Status: dag.Running, Started: runStart, PID: os.Getpid(), Epoch: 1}}
	if diff := cmp.Diff(expected, list); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func testNoRun(t *testing.T, s history.Store) {
	ctx := context.Background()
	_, err := s.Claim(ctx, "x", 0)
	want(t, err, history.ErrNoRun)
	_, err = s.Record(ctx, "x")
	want(t, err, history.ErrNoRun)
	_, err = s.Info(ctx, "x")
	want(t, err, history.ErrNoRun)
	_, err = s.Events(ctx, "x", 0)
	want(t, err, history.ErrNoRun)
	want(t, s.Cancel(ctx, "x", "enough"), history.ErrNoRun)
	if list, err := s.Runs(ctx, history.Query{}); err != nil || len(list) > 0 {
		t.Error(list, err)
	}
}

func testEvents(t *testing.T, s history.Store) {
	ctx := context.Background()
	l := begin(t, s, record("r1", "deploy"))
	other := begin(t, s, record("r2", "deploy"))
	if list, err := s.Events(ctx, "r1", 0); err != nil || len(list) > 0 {
		t.Error(list, err)
	}
	rich := dag.Event{V: 1, Seq: 4, Run: "r1", Kind: dag.StepRetrying, Node: "a/b[x]", Attempt: 2, Time: runStart, Due: runStart.Add(time.Second), Reason: "exit",
		Result: &dag.Result{Status: dag.TimedOut, ExitCode: 124, Message: "<&>\n\u2028", Started: runStart, Ended: runStart,
			Stdout: &dag.Output{Inline: "line\nl\xff\xfe", Size: 8, Masked: true, File: "/l\xff/a", Digest: "sha256:00"}}}
	rich.Result.SetArtifacts([]dag.Artifact{{Name: "n", Path: "/l\xff/n"}, {Name: "m", Paths: []string{"/l\xff/m", "/l\xfe/m"}}})
	reset := dag.Event{V: 1, Seq: 5, Run: "r1", Kind: dag.RunResumed, Time: runStart, Reset: []dag.ID{"a", "a/b"}}
	all := append(turn("r1", 1, 3), rich, reset)
	appendAll(t, l, all[:1]...)
	appendAll(t, other, turn("r2", 1, 2)...)
	appendAll(t, l, all[1:3]...)
	appendAll(t, l)
	appendAll(t, l, all[3:]...)
	if err := l.Sync(ctx); err != nil {
		t.Error(err)
	}
	for after := range 7 {
		got, err := s.Events(ctx, "r1", uint64(after))
		if diff := cmp.Diff(all[min(after, 5):], got, ignoreUnexported, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("after %d: %v %s", after, err, diff)
		}
	}
	if got := allEvents(t, s, "r2"); len(got) != 2 {
		t.Error("the other run has", got)
	}
}

// Reading page by page returns every event once.
func testPaging(t *testing.T, s history.Store) {
	const turns, each = 20, 25
	l := begin(t, s, record("r1", "deploy"))
	var all []dag.Event
	for range turns {
		events := turn("r1", uint64(len(all))+1, uint64(len(all)+each))
		for i := range events {
			events[i].Reason = strings.Repeat("x", dag.InlineLimit)
		}
		appendAll(t, l, events...)
		all = append(all, events...)
	}
	if diff := cmp.Diff(all, allEvents(t, s, "r1"), ignoreUnexported); diff != "" {
		t.Error(diff)
	}
}

// A list shows the end of the run that the events report.
func testRunInfo(t *testing.T, s history.Store) {
	ctx := context.Background()
	l := begin(t, s, record("r1", "deploy"))
	running := history.RunInfo{ID: "r1", Tool: "deploy", Status: dag.Running, Started: runStart, PID: os.Getpid(), Epoch: 1}
	ended := history.RunInfo{ID: "r1", Tool: "deploy", Status: dag.Failed, ExitCode: 3, Reason: "exit", Message: "a failed", Started: runStart, Ended: runStart.Add(time.Minute), Epoch: 1}
	interrupted := running
	interrupted.Status, interrupted.PID, interrupted.Released = dag.Interrupted, 0, true
	owned := func(i history.RunInfo) history.RunInfo { i.PID = os.Getpid(); return i }
	epoch := func(n int, i history.RunInfo) history.RunInfo { i.Epoch = n; return i }
	began := time.Now()
	check := func(when string, expected history.RunInfo) {
		t.Helper()
		got := info(t, s, "r1")
		if sign := got.LastSign; expected.Status == dag.Interrupted && (sign.Before(began) || sign.After(time.Now())) {
			t.Errorf("%s: the last sign of life was at %v; the run was given up between %v and now", when, sign, began)
		} else if expected.Status == dag.Interrupted {
			got.LastSign = time.Time{}
		}
		if diff := cmp.Diff(expected, got); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
		for _, status := range []dag.Status{dag.Running, dag.Failed, dag.Interrupted} {
			list, err := s.Runs(ctx, history.Query{Status: []dag.Status{status}})
			if err != nil || (len(list) == 1) != (status == expected.Status) {
				t.Errorf("%s: with status %v: %v, %v", when, status, list, err)
			}
		}
	}
	check("begun", running)
	appendAll(t, l, append(turn("r1", 1, 2), end("r1", 3, dag.Failed))...)
	check("ended", owned(ended))
	l.Close()
	check("ended and closed", ended)
	l = claim(t, s, "r1", 3)
	check("claimed", epoch(2, owned(ended)))
	appendAll(t, l, dag.Event{V: 1, Seq: 4, Run: "r1", Kind: dag.RunResumed, Time: runStart})
	check("resumed", epoch(2, running))
	l.Close()
	check("left", epoch(2, interrupted))
	l = claim(t, s, "r1", 4)
	check("claimed again", epoch(3, running))
	appendAll(t, l, dag.Event{V: 1, Seq: 5, Run: "r1", Kind: dag.RunResumed, Time: runStart}, end("r1", 6, dag.Failed))
	check("ended again", epoch(3, owned(ended)))
}

// lists are queries for the runs that testLists makes, with the ids that they find.
var lists = []struct {
	q    history.Query
	want string
}{
	{history.Query{Limit: 3}, "b19 b18 b17"},
	{history.Query{Prefix: "a0", Limit: 2}, "a09 a08"},
	{history.Query{Prefix: "a0", Tool: "test"}, "a09 a07 a05 a03 a01"},
	{history.Query{Prefix: "b19"}, "b19"},
	{history.Query{Prefix: "b190"}, ""},
	{history.Query{Prefix: "%"}, ""},
	{history.Query{Tool: "tes"}, ""},
	{history.Query{Labels: []history.Label{{Name: "team"}}, Limit: 3}, "b18 b17 b14"},
	{history.Query{Labels: []history.Label{{Name: "team", Value: "ops"}}, Limit: 2}, "b17 b13"},
	{history.Query{Labels: []history.Label{{Name: "team", Value: "op"}}}, ""},
	{history.Query{Labels: []history.Label{{Name: "team", Value: "dev"}, {Name: "cost", Value: "a=b c"}}, Status: []dag.Status{dag.Failed}}, "a06"},
	{history.Query{Labels: []history.Label{{Name: "team", Value: "dev"}, {Name: "team", Value: "ops"}}}, ""},
	{history.Query{Labels: []history.Label{{Name: "%"}}}, ""},
	{history.Query{Tool: "test", Limit: 3}, "b19 b17 b15"},
	{history.Query{Status: []dag.Status{dag.Failed}}, "b16 b11 a06 a01"},
	{history.Query{Status: []dag.Status{dag.Failed, dag.TimedOut}, Limit: 5}, "b17 b16 b12 b11 a07"},
	{history.Query{Status: []dag.Status{dag.Running}}, "b18 b13 a08 a03"},
	{history.Query{Status: []dag.Status{dag.Interrupted}, Limit: 2}, "b19 b14"},
	{history.Query{Open: true, Limit: 4}, "b19 b18 b14 b13"},
	{history.Query{Open: true, Status: []dag.Status{dag.Interrupted}, Tool: "test", Limit: 1}, "b19"},
	{history.Query{Status: []dag.Status{dag.Running, dag.Interrupted}, Limit: 3}, "b19 b18 b14"},
	{history.Query{Status: []dag.Status{dag.Interrupted, dag.Failed}, Tool: "test", Prefix: "b"}, "b19 b11"},
	{history.Query{Status: []dag.Status{dag.Skipped}}, ""},
	{history.Query{Origin: "schedule:nightly", Limit: 2}, "b17 b14"},
	{history.Query{Origin: "api", Status: []dag.Status{dag.Running, dag.Interrupted}}, "b19 b13 a04"},
	{history.Query{Origin: "schedule:"}, ""},
	{history.Query{Kind: "schedule", Limit: 2}, "b17 b14"},
	{history.Query{Kind: "schedule", Status: []dag.Status{dag.Failed}}, "b11"},
	{history.Query{Kind: "sched"}, ""},
	{history.Query{Kind: "api"}, ""},
	{history.Query{Direct: true, Tool: "test"}, "b15 a09 a03"},
	{history.Query{Tools: []string{"test", "none"}, Limit: 3}, "b19 b17 b15"},
	{history.Query{Tools: []string{"test", "build"}, Direct: true, Before: "b18", Limit: 2}, "b15 b12"},
	{history.Query{Tools: []string{}}, ""},
	{history.Query{Folder: filepath.FromSlash("/shop"), Limit: 3}, "b18 b17 b15"},
	{history.Query{Folder: filepath.FromSlash("/shop/"), Status: []dag.Status{dag.Failed}}, "b11 a06"},
	{history.Query{Folder: filepath.FromSlash("/shop/b%"), Limit: 1}, ""},
	{history.Query{Since: runStart.Add(17 * time.Minute)}, "b19 b18 b17"},
	{history.Query{Before: "b17", Limit: 3}, "b16 b15 b14"},
	{history.Query{Before: "b16", Tool: "test", Status: []dag.Status{dag.Failed, dag.TimedOut}, Limit: 2}, "b11 a07"},
	{history.Query{Before: "b19", Open: true, Limit: 2}, "b18 b14"},
	{history.Query{Before: "a00"}, ""},
	{history.Query{Before: "none"}, ""},
	{history.Query{Since: runStart.Add(3 * time.Minute), Until: runStart.Add(5 * time.Minute)}, "a04 a03"},
	{history.Query{Until: runStart}, ""},
	{history.Query{Since: runStart.Add(16 * time.Minute), Status: []dag.Status{dag.Failed, dag.Succeeded}}, "b16"},
}

// beginTwenty makes runs of two tools, with five states, three origins and three folders.
func beginTwenty(t *testing.T, s history.Store) {
	t.Helper()
	states := []dag.Status{dag.Succeeded, dag.Failed, dag.TimedOut, dag.Running, dag.Interrupted}
	for i := range 20 {
		id := fmt.Sprintf("%c%02d", "ab"[i/10], i)
		r := record(id, []string{"build", "test"}[i%2])
		r.Created = runStart.Add(time.Duration(i) * time.Minute)
		r.Origin = []string{"", "api", "schedule:nightly"}[i%3]
		r.Labels = []map[string]string{nil, {"team": "ops"}, {"team": "dev", "cost": "a=b c"}, {"site": "x"}}[i%4]
		r.Params["N"] = json.Number("12345678901234567890")
		r.RunEnv.Workspace = filepath.FromSlash([]string{"/shop", "/shopping", "/shop/api"}[i%3])
		l := begin(t, s, r)
		switch st := states[i%5]; st {
		case dag.Running:
		case dag.Interrupted:
			l.Close()
		default:
			appendAll(t, l, end(id, 1, st))
			l.Close()
		}
	}
}

func testLists(t *testing.T, s history.Store) {
	ctx := context.Background()
	beginTwenty(t, s)
	for _, c := range lists {
		list, err := s.Runs(ctx, c.q)
		var ids []string
		for _, i := range list {
			ids = append(ids, i.ID)
		}
		if got := strings.Join(ids, " "); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v; want %q", c.q, got, err, c.want)
		}
	}
	list, err := s.Runs(ctx, history.Query{})
	if err != nil || len(list) != 20 || list[0].Params != nil {
		t.Error(len(list), err)
	}
	if i := info(t, s, "b18"); !maps.Equal(i.Labels, map[string]string{"team": "dev", "cost": "a=b c"}) || !maps.Equal(list[1].Labels, i.Labels) || list[3].Labels != nil {
		t.Error("labels:", i.Labels, list[1].Labels, list[3].Labels)
	}
	for _, status := range [][]dag.Status{nil, {dag.Failed, dag.Interrupted}} {
		list, err = s.Runs(ctx, history.Query{WithParams: true, Status: status, Limit: 1})
		if err != nil || len(list) != 1 || fmt.Sprint(list[0].Params["N"]) != "12345678901234567890" {
			t.Error(list, err)
		}
	}
}

func testFindRun(t *testing.T, s history.Store) {
	ctx := context.Background()
	_, err := history.FindRun(ctx, s, history.Latest)
	want(t, err, history.ErrNoRun)
	for _, id := range []string{"ab", "abc", "abd"} {
		begin(t, s, record(id, "deploy"))
	}
	for word, expected := range map[string]string{"abc": "abc", "abd": "abd", "ab": "ab", history.Latest: "abd"} {
		if got, err := history.FindRun(ctx, s, word); err != nil || got != expected {
			t.Errorf("%s: %q, %v", word, got, err)
		}
	}
	for _, word := range []string{"", "abx", "abcd", "b"} {
		_, err := history.FindRun(ctx, s, word)
		want(t, err, history.ErrNoRun)
	}
	var several *history.AmbiguousError
	if _, err := history.FindRun(ctx, s, "a"); !errors.As(err, &several) {
		t.Errorf("the prefix of several runs: %v", err)
	}
}

func testClaim(t *testing.T, s history.Store) {
	ctx := context.Background()
	l := begin(t, s, record("r1", "deploy"))
	appendAll(t, l, turn("r1", 1, 3)...)
	_, err := s.Claim(ctx, "r1", 3)
	want(t, err, history.ErrLive)
	_, err = s.Claim(ctx, "r1", 2)
	want(t, err, history.ErrLive)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Error("closed again:", err)
	}
	for _, seq := range []uint64{0, 2, 4} {
		_, err = s.Claim(ctx, "r1", seq)
		want(t, err, history.ErrChanged)
	}
	for epoch := 2; epoch < 5; epoch++ {
		l := claim(t, s, "r1", uint64(epoch)+1)
		if l.Epoch() != epoch {
			t.Errorf("the epoch is %d, want %d", l.Epoch(), epoch)
		}
		appendAll(t, l, turn("r1", uint64(epoch)+2, uint64(epoch)+2)...)
		_, err = s.Claim(ctx, "r1", uint64(epoch)+2)
		want(t, err, history.ErrLive)
		l.Close()
	}
	// A run without events can be claimed as well.
	begin(t, s, record("r2", "deploy")).Close()
	claim(t, s, "r2", 0)
}

// A closed ledger writes nothing, whoever owns the run.
func testFenced(t *testing.T, s history.Store) {
	ctx := context.Background()
	old := begin(t, s, record("r1", "deploy"))
	appendAll(t, old, turn("r1", 1, 1)...)
	old.Close()
	refused := func() {
		t.Helper()
		want(t, old.Append(ctx, turn("r1", 2, 2)), history.ErrFenced)
		want(t, old.Append(ctx, []dag.Event{end("r1", 2, dag.Succeeded)}), history.ErrFenced)
		want(t, old.Sync(ctx), history.ErrFenced)
	}
	refused()
	l := claim(t, s, "r1", 1)
	refused()
	appendAll(t, l, turn("r1", 2, 2)...)
	old.Close()
	appendAll(t, l, turn("r1", 3, 3)...)
	if i := info(t, s, "r1"); i.Status != dag.Running {
		t.Error("the run is", i.Status)
	}
	if got := allEvents(t, s, "r1"); len(got) != 3 {
		t.Error(got)
	}
}

// An owner that has lost its run is notified and cannot write any more.
func testLapsed(t *testing.T, s history.Store) {
	lapser, ok := s.(Lapser)
	if !ok {
		t.Skip("an owner cannot lose a run of this store")
	}
	ctx := context.Background()
	for name, act := range map[string]func(l history.Ledger, run string) error{
		"append": func(l history.Ledger, run string) error { return l.Append(ctx, turn(run, 2, 2)) },
		"finish": func(l history.Ledger, run string) error {
			return l.Append(ctx, []dag.Event{end(run, 2, dag.Succeeded)})
		},
		"sync":  func(l history.Ledger, _ string) error { return l.Sync(ctx) },
		"watch": nil,
	} {
		t.Run(name, func(t *testing.T) {
			old := begin(t, s, record(name, "deploy"))
			appendAll(t, old, turn(name, 1, 1)...)
			rival := lapser.Lapse(t, name)
			if i := info(t, rival, name); i.Status != dag.Interrupted {
				t.Error("the status of a run whose owner ended is", i.Status)
			}
			l := claim(t, rival, name, 1)
			if act != nil {
				want(t, act(old, name), history.ErrFenced)
			}
			select {
			case <-old.Lost():
			case <-time.After(waittest.Limit):
				t.Error("the owner was not informed")
			}
			want(t, old.Append(ctx, turn(name, 2, 2)), history.ErrFenced)
			if err := old.Close(); err != nil {
				t.Error(err)
			}
			appendAll(t, l, turn(name, 2, 2)...)
			select {
			case <-l.Lost():
				t.Error("the new owner has lost the run as well")
			default:
			}
			if got := allEvents(t, s, name); len(got) != 2 {
				t.Error(got)
			}
			if i := info(t, s, name); i.Status != dag.Running {
				t.Error("the run is", i.Status)
			}
		})
	}
}

func testCancel(t *testing.T, s history.Store) {
	ctx := context.Background()
	l := begin(t, s, record("r1", "deploy"))
	bystander := begin(t, s, record("r2", "deploy"))
	for _, reason := range []string{"enough", "once more"} { // only the first is received
		if err := s.Cancel(ctx, "r1", reason); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case reason := <-l.CancelRequests():
		if reason != "enough" {
			t.Error("the reason is", reason)
		}
	case <-time.After(waittest.Limit):
		t.Fatal("the owner was not asked")
	}
	// A request that no owner received does not reach the next owner.
	l.Close()
	if err := s.Cancel(ctx, "r1", "too late"); err != nil {
		t.Error(err)
	}
	l = claim(t, s, "r1", 0)
	if err := s.Cancel(ctx, "r2", "this one"); err != nil {
		t.Error(err)
	}
	select {
	case reason := <-bystander.CancelRequests():
		if reason != "this one" {
			t.Error("another run was asked:", reason)
		}
	case <-time.After(waittest.Limit):
		t.Fatal("the other run was not asked")
	}
	select { // by now it would have received it too
	case reason := <-l.CancelRequests():
		t.Error("the next owner was asked:", reason)
	default:
	}
	if err := s.Cancel(ctx, "r1", "now"); err != nil {
		t.Error(err)
	}
	select {
	case <-l.CancelRequests():
	case <-time.After(waittest.Limit):
		t.Fatal("the next owner was not asked")
	}
}

// The store shares no memory with its caller.
func testCopies(t *testing.T, s history.Store) {
	ctx := context.Background()
	r := record("r1", "deploy")
	text := []byte("name: deploy")
	r.Given["X"] = "1"
	r.Sources = []tool.Source{{Name: "deploy", Digest: tool.DigestOf(text), Text: text}}
	l := begin(t, s, r)
	r.Given["X"], r.Tool, text[0] = "2", "other", 'X'
	events := turn("r1", 1, 1)
	events[0].Result = &dag.Result{Message: "first"}
	appendAll(t, l, events...)
	events[0].Node, events[0].Result.Message = "changed", "changed"
	for range 2 {
		got, err := s.Record(ctx, "r1")
		if err != nil || got.Given["X"] != "1" || got.Tool != "deploy" || string(got.Sources[0].Text) != "name: deploy" {
			t.Fatal(got, err)
		}
		got.Given["X"], got.Sources[0].Text[0] = "3", 'Y'
		list := allEvents(t, s, "r1")
		if len(list) != 1 || list[0].Node != "a" || list[0].Result.Message != "first" {
			t.Fatal(list)
		}
		list[0].Node, list[0].Result.Message = "x", "x"
	}
}

func testConcurrency(t *testing.T, s history.Store) {
	const runs, turns = 6, 40
	ctx := context.Background()
	var all sync.WaitGroup
	for i := range runs {
		id := fmt.Sprintf("r%d", i)
		all.Go(func() {
			l, err := s.Begin(ctx, record(id, "deploy"))
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Close()
			for n := range uint64(turns) {
				if err := l.Append(ctx, turn(id, 2*n+1, 2*n+2)); err != nil {
					t.Error(err)
				}
				if n%10 == 0 {
					if err := l.Sync(ctx); err != nil {
						t.Error(err)
					}
				}
			}
			if err := l.Append(ctx, []dag.Event{end(id, 2*turns+1, dag.Succeeded)}); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			for range 10 {
				if _, err := s.Runs(ctx, history.Query{Limit: 3}); err != nil {
					t.Error(err)
				}
				if _, err := s.Events(ctx, id, 5); err != nil && !errors.Is(err, history.ErrNoRun) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for i := range runs {
		id := fmt.Sprintf("r%d", i)
		for n, e := range allEvents(t, s, id) {
			if e.Seq != uint64(n)+1 || e.Run != id {
				t.Fatalf("event %d of %s is %+v", n+1, id, e)
			}
		}
		if i := info(t, s, id); i.Status != dag.Succeeded {
			t.Error(id, "is", i.Status)
		}
	}
}
