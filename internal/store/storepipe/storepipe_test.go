package storepipe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

var start = time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC)

// duplex is a program on the other end of two pipes.
type duplex struct {
	io.Reader
	io.WriteCloser
}

// served returns the runs of a Store through a pipe, and a function that returns how often the server was started.
func served(t *testing.T, s history.Store) (*Client, func() int) {
	t.Helper()
	starts := 0
	c := NewClient(func() (io.ReadWriteCloser, error) {
		starts++
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		go func() {
			err := Greet(out)
			if err == nil {
				err = Serve(t.Context(), s, func(a dag.Artifact) (dag.Artifact, error) { a.Path = "/here/" + a.Path; return a, nil }, in, out)
			}
			out.CloseWithError(err)
		}()
		return duplex{fromServer, toServer}, nil
	})
	t.Cleanup(c.Close)
	return c, func() int { return starts }
}

// TestSameAsServed: what a Client returns is what the Store has.
func TestSameAsServed(t *testing.T) {
	s := history.NewMemory()
	text := []byte("name: t # \xff")
	params := map[string]any{"N": "1", "RAW": "\xff\x00", "LIST": []any{"a", true}}
	ledger, err := s.Begin(t.Context(), &history.Record{ID: "a", Tool: "t", Created: start, Params: params, Given: params, Labels: map[string]string{"team": "ops"},
		Sources: []tool.Source{{Name: "t", File: "/t.yaml", Digest: tool.DigestOf(text), Text: text}}})
	if err != nil {
		t.Fatal(err)
	}
	events := []dag.Event{{V: 1, Seq: 1, Run: "a", Kind: dag.RunStarted, Time: start}, {V: 1, Seq: 2, Run: "a", Kind: dag.StepFinished, Node: "x", Time: start, Result: &dag.Result{Status: dag.Succeeded, Stdout: &dag.Output{Inline: "\xfe", Size: 1}}}}
	if err := ledger.Append(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	c, starts := served(t, s)
	if n := starts(); n != 0 {
		t.Errorf("started %d times before it is needed", n)
	}
	type all struct {
		record       *history.Record
		info         history.RunInfo
		runs, none   []history.RunInfo
		events, rest string // as JSON
		queue        history.Queue
	}
	read := func(s history.Store) (a all) {
		var errs [7]error
		events := func(after uint64, err *error) string {
			list, failed := s.Events(t.Context(), "a", after)
			*err = failed
			if len(list) == 0 {
				return ""
			}
			text, _ := json.Marshal(list)
			return string(text)
		}
		a.record, errs[0] = s.Record(t.Context(), "a")
		a.info, errs[1] = s.Info(t.Context(), "a")
		a.runs, errs[2] = s.Runs(t.Context(), history.Query{WithParams: true, Labels: []history.Label{{Name: "team"}}})
		a.none, errs[3] = s.Runs(t.Context(), history.Query{Tool: "u"})
		a.events, a.rest = events(0, &errs[4]), events(2, &errs[5])
		a.queue, errs[6] = s.Queue(t.Context())
		if err := errors.Join(errs[:]...); err != nil {
			t.Error(err)
		}
		return a
	}
	if diff := cmp.Diff(read(s), read(c), cmp.AllowUnexported(all{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-served +read:\n%s", diff)
	}
	if a, err := c.Artifact(dag.Artifact{Name: "n", Path: "p"}); a.Path != "/here/p" || err != nil {
		t.Errorf("%+v, %v", a, err)
	}
	if n := starts(); n != 1 {
		t.Errorf("started %d times", n)
	}
}

// TestActs: answers and cancels reach the Store, and its errors the caller.
func TestActs(t *testing.T) {
	s := history.NewMemory()
	ledger, err := s.Begin(t.Context(), &history.Record{ID: "a", Tool: "t", Created: start})
	if err != nil {
		t.Fatal(err)
	}
	c, _ := served(t, s)
	want := history.Answer{Step: "x", Wait: 3, Approve: true, Values: map[string]any{"V": "x"}, By: "ada", At: start}
	if err := c.Answer(t.Context(), "a", want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, <-ledger.Answers()); diff != "" {
		t.Errorf("-given +taken:\n%s", diff)
	}
	if err := c.Answer(t.Context(), "a", want); !errors.Is(err, history.ErrAnswered) || !strings.Contains(err.Error(), "approved by ada") {
		t.Errorf("answered twice: %v", err)
	}
	if err := c.Cancel(t.Context(), "a", "enough"); err != nil {
		t.Fatal(err)
	}
	if reason := <-ledger.CancelRequests(); reason != "enough" {
		t.Errorf("cancelled because of %q", reason)
	}
	if _, err := c.Record(t.Context(), "b"); !errors.Is(err, history.ErrNoRun) {
		t.Error(err)
	}
	if _, err := c.Claim(t.Context(), "a", 0); err == nil {
		t.Error("a run of another engine was taken over")
	}
}

// slow is a Store whose records never come.
type slow struct{ *history.Memory }

func (s slow) Record(ctx context.Context, _ string) (*history.Record, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestSlow: a request that takes long does not keep others waiting, and its caller can leave.
func TestSlow(t *testing.T) {
	c, _ := served(t, slow{history.NewMemory()})
	ctx, leave := context.WithCancelCause(t.Context())
	got := make(chan error)
	go func() {
		_, err := c.Record(ctx, "a")
		got <- err
	}()
	if _, err := c.Runs(t.Context(), history.Query{}); err != nil {
		t.Error(err)
	}
	why := errors.New("long enough")
	leave(why)
	if err := <-got; !errors.Is(err, why) {
		t.Error(err)
	}
}

// TestIdle: a program that is not asked for long is ended, and started again when it is.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, starts := served(t, history.NewMemory())
		for _, c := range []struct {
			pause time.Duration
			want  int
		}{{0, 1}, {idleAfter - time.Second, 1}, {idleAfter - time.Second, 1}, {idleAfter + time.Second, 2}, {0, 2}} {
			time.Sleep(c.pause)
			if _, err := client.Runs(t.Context(), history.Query{}); err != nil {
				t.Error(err)
			}
			if n := starts(); n != c.want {
				t.Errorf("after %s: started %d times, want %d", c.pause, n, c.want)
			}
		}
	})
}

// closing counts how often a program was ended.
type closing struct {
	io.Reader
	bytes.Buffer
	closed atomic.Int32
}

func (c *closing) Read(b []byte) (int, error) { return c.Reader.Read(b) }

func (c *closing) Close() error { c.closed.Add(1); return nil }

// TestOtherProgram: a program of another release is noticed, and one that ends after the greeting.
func TestOtherProgram(t *testing.T) {
	for text, want := range map[string]error{
		"": ErrProtocol, "unknown command\n": ErrProtocol, `{"protocol":"flowrun store pipe 0"}`: ErrProtocol, `{"protocol":"` + protocol + `"}`: ErrEnded,
	} {
		program := &closing{Reader: strings.NewReader(text)}
		_, err := NewClient(func() (io.ReadWriteCloser, error) { return program, nil }).Info(t.Context(), "a")
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
		if program.closed.Load() == 0 {
			t.Errorf("%q: the program was not ended", text)
		}
	}
}
