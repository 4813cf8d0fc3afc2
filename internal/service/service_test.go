package service_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/feed"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"github.com/flowrun/flowrun/library"
)

func TestMain(m *testing.M) {
	engine.HelperMain()
	sizetest.SideBySide()
	goleak.VerifyTestMain(m)
}

// bench is a project with tools, and a Store.
type bench struct {
	t     *testing.T
	dir   string // the project's
	store history.Store
	log   *record
}

func newBench(t *testing.T, tools map[string]string) *bench {
	b := &bench{t: t, dir: t.TempDir(), store: history.NewMemory(), log: &record{}}
	for name, text := range tools {
		b.write(name, text)
	}
	return b
}

// write writes a definition.
func (b *bench) write(name, text string) {
	b.t.Helper()
	file := filepath.Join(b.dir, ".flowrun", "tools", name+".yaml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) library() *library.Library {
	return library.New(library.Config{WorkingDirectory: b.dir, Home: filepath.Join(b.dir, "home"), Getenv: func(string) string { return "" }})
}

// serve starts a service, which is stopped with the test.
func (b *bench) serve(change ...func(*service.Config)) *service.Service {
	b.t.Helper()
	c := service.Config{Store: b.store, Library: b.library, Log: b.log.logger(), Home: filepath.Join(b.dir, "home")}
	c.Engine = engine.New(engine.Config{Store: b.store, Grace: time.Second})
	for _, f := range change {
		f(&c)
	}
	s, err := service.New(b.t.Context(), c)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { stop(s) })
	return s
}

// stop drains a service at once, unless it was stopped before.
func stop(s *service.Service) {
	if !s.Health().Draining {
		s.Drain(0, nil)
	}
}

func (b *bench) start(s *service.Service, r service.Request) string {
	b.t.Helper()
	id, err := s.Starter.Start(b.t.Context(), r)
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

// becomes waits until a run has a status.
func (b *bench) becomes(id string, want dag.Status) history.RunInfo {
	b.t.Helper()
	var info history.RunInfo
	waittest.Until(b.t, "run that is "+want.String(), func() bool {
		var err error
		info, err = b.store.Info(context.Background(), id)
		return err == nil && info.Status == want
	}, func() any { return info })
	return info
}

func TestStart(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{
		"hello":  "name: hello\nbash: echo hello {WHO} from $PWD, $TRACEPARENT\nparameters:\n  WHO: {type: string}\n",
		"broken": "name: broken\nsteps: 7\n",
		"root":   "name: root\nbash: id\nsecurity: {execution-privilege: elevated}\n",
	})
	s := b.serve(func(c *service.Config) {
		c.Decide = func(p *engine.Plan) error {
			if p.Definition.Security.ExecutionPrivilege == "elevated" {
				return errors.New("it wants rights")
			}
			return nil
		}
	})
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	id := b.start(s, service.Request{Tool: "hello", Params: map[string]any{"WHO": "Ada"}, Origin: "api", Parent: trace})
	b.becomes(id, dag.Succeeded)
	past, err := s.Runs.RecordedRun(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := past.Result().Output, "hello Ada from "+b.dir+", "+trace+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if past.Record.Origin != "api" {
		t.Errorf("origin is %q", past.Record.Origin)
	}
	t.Run("again under its id", func(t *testing.T) {
		again, err := s.Starter.Start(t.Context(), service.Request{Tool: "hello", Params: map[string]any{"WHO": "Bea"}, ID: id})
		if runs, _ := s.History.Runs(t.Context(), history.Query{}); err != nil || again != id || len(runs) != 1 {
			t.Errorf("%s, %v, %d runs", again, err, len(runs))
		}
	})
	t.Run("refused", func(t *testing.T) {
		var params *value.ParamsError
		var missing *library.NotFoundError
		var broken tool.Diagnostics
		for _, c := range []struct {
			r    service.Request
			want func(error) bool
		}{
			{service.Request{Tool: "hello", Params: map[string]any{"WHOM": 7}}, func(err error) bool { return errors.As(err, &params) && len(params.Problems) > 0 }},
			{service.Request{Tool: "helo"}, func(err error) bool { return errors.As(err, &missing) && len(missing.Near) == 1 }},
			{service.Request{Tool: "broken"}, func(err error) bool { return errors.As(err, &broken) }},
			{service.Request{Tool: "root"}, func(err error) bool { return errors.Is(err, outcome.ErrRefused) }},
			{service.Request{Tool: "./hello"}, func(err error) bool { return errors.Is(err, outcome.ErrPath) }},
			{service.Request{Tool: "hello.YML"}, func(err error) bool { return errors.Is(err, outcome.ErrPath) }},
		} {
			if id, err := s.Starter.Start(t.Context(), c.r); !c.want(err) || id != "" {
				t.Errorf("%+v: %q, %v", c.r, id, err)
			}
		}
		failed, _ := s.History.Runs(t.Context(), history.Query{Status: []dag.Status{dag.Failed}})
		for _, r := range failed {
			if r.Reason != dag.ReasonNotStarted || r.Message == "" {
				t.Errorf("%+v", r)
			}
			past, err := s.Runs.RecordedRun(t.Context(), r.ID)
			if err != nil || past.Result().Status != dag.Failed {
				t.Errorf("%s: %v", r.ID, err)
			}
			if err := s.Control.Resume(t.Context(), r.ID); !errors.Is(err, outcome.ErrNotStarted) {
				t.Errorf("resume: %v", err)
			}
			if _, err := s.Control.Retry(t.Context(), r.ID, nil); !errors.Is(err, outcome.ErrNotStarted) {
				t.Errorf("retry: %v", err)
			}
		}
		if len(failed) != 4 { // but for the two paths
			t.Errorf("%d runs have failed", len(failed))
		}
	})
}

// TestOffered checks which recorded runs are those of an offered tool: not those of another file, also if its tool has
// the same name.
func TestOffered(t *testing.T) {
	t.Parallel()
	const text = "name: hello\nbash: exit 3\n"
	b := newBench(t, map[string]string{"hello": text})
	s := b.serve()
	elsewhere := filepath.Join(b.dir, "hello.yaml")
	other := filepath.Join(b.dir, "other.yaml")
	linked := filepath.Join(b.dir, "linked")
	if err := errors.Join(os.WriteFile(elsewhere, []byte(text), 0o644), os.WriteFile(other, []byte("name: other\nbash: exit 3\n"), 0o644),
		os.Symlink(b.dir, linked)); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(b.dir, ".flowrun", "tools", "hello.yaml")
	for file, want := range map[string]bool{"hello": true, own: true, filepath.Join(linked, ".flowrun", "tools", "hello.yaml"): true, elsewhere: false, other: false} {
		plan, err := engine.Compile(b.library(), file)
		if err != nil {
			t.Fatal(err)
		}
		id := history.NewID(time.Now())
		if _, err := engine.New(engine.Config{Store: b.store}).Run(t.Context(), plan, nil, engine.WithID(id)); err != nil {
			t.Fatal(err)
		}
		past, err := s.Runs.RecordedRun(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		var missing *library.NotFoundError
		if err := s.Tools.Offered(past); (err == nil) != want || err != nil && !errors.As(err, &missing) {
			t.Errorf("a run of %s: %v, want offered %v", file, err, want)
		}
	}
}

// TestInvalidParameters checks that a request with invalid parameters is refused and is not a run, unless nobody
// reads the answer.
func TestInvalidParameters(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"hello": "name: hello\nbash: echo hello {WHO}\nparameters:\n  WHO: {type: string}\n"})
	s := b.serve()
	for origin, runs := range map[string]int{"api": 0, "detach": 0, "schedule:nightly": 1, "webhook:push": 1} {
		var bad *value.ParamsError
		if id, err := s.Starter.Start(t.Context(), service.Request{Tool: "hello", Params: map[string]any{"WHOM": 7}, Origin: origin}); !errors.As(err, &bad) || id != "" {
			t.Errorf("%s: %q, %v", origin, id, err)
		}
		if list, err := s.History.Runs(t.Context(), history.Query{Origin: origin}); err != nil || len(list) != runs {
			t.Errorf("%s: %d runs in the history, want %d (%v)", origin, len(list), runs, err)
		}
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"hello": "name: hello\nbash: echo hello\n"})
	s := b.serve()
	batches, lost := s.Feed.Watch(t.Context(), 0)
	updates := newUpdates(batches)
	if lost {
		t.Error("updates are said to be lost before there are any")
	}
	ids := map[string]bool{}
	for range 3 {
		ids[b.start(s, service.Request{Tool: "hello", Origin: "api"})] = true
	}
	// A person's run, by another engine.
	plan, err := engine.Compile(b.library(), "hello")
	if err != nil {
		t.Fatal(err)
	}
	res, err := engine.New(engine.Config{Store: b.store}).Run(t.Context(), plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	ids[res.ID] = true
	seqs, ended := map[string]uint64{}, 0
	var all []*feed.Update
	for ended < len(ids) {
		u := updates.next(t)
		if len(all) > 0 && u.ID <= all[len(all)-1].ID {
			t.Errorf("update %d follows %d", u.ID, all[len(all)-1].ID)
		}
		if !ids[u.Run] || u.Tool != "hello" || u.Event.Seq != seqs[u.Run]+1 {
			t.Errorf("event %d of %s follows %d", u.Event.Seq, u.Run, seqs[u.Run])
		}
		seqs[u.Run]++
		if all = append(all, u); u.Event.Kind == dag.RunFinished {
			ended++
		}
	}
	t.Run("from a place", func(t *testing.T) {
		batches, lost := s.Feed.Watch(t.Context(), all[4].ID)
		again := newUpdates(batches)
		for _, want := range all[5:] {
			if got := again.next(t); got.ID != want.ID || lost {
				t.Errorf("%d, want %d (%v)", got.ID, want.ID, lost)
			}
		}
	})
	t.Run("from before", func(t *testing.T) {
		batches, lost := s.Feed.Watch(t.Context(), all[0].ID-1<<20)
		if got := newUpdates(batches).next(t); got.ID != all[0].ID || !lost {
			t.Errorf("%d, want %d (%v)", got.ID, all[0].ID, lost)
		}
	})
	t.Run("of a clock that was ahead", func(t *testing.T) {
		if _, lost := s.Feed.Watch(t.Context(), all[len(all)-1].ID+1<<40); !lost {
			t.Error("nothing is said to be lost")
		}
	})
	t.Run("until it stops", func(t *testing.T) {
		stop(s)
		if _, open := <-batches; open {
			t.Error("there is more")
		}
	})
}

// updates are the updates of a watch, one at a time.
type updates struct {
	from <-chan []*feed.Update
	rest []*feed.Update
}

func newUpdates(from <-chan []*feed.Update) *updates { return &updates{from: from} }

func (u *updates) next(t *testing.T) *feed.Update {
	t.Helper()
	for len(u.rest) == 0 {
		select {
		case batch, open := <-u.from:
			if !open {
				t.Fatal("the watch has ended")
			}
			u.rest = batch
		case <-time.After(waittest.Limit):
			t.Fatal("there was no update")
		}
	}
	first := u.rest[0]
	u.rest = u.rest[1:]
	return first
}
