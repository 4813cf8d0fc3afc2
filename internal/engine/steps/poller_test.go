package steps

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// waits runs a graph of one step that waits.
func (b *bench) waits(t *testing.T, ctx context.Context, l *Poller, limit time.Duration) dag.Result {
	t.Helper()
	g, err := dag.New([]dag.Node{{ID: "w", NoSlot: true, Runner: l, Policy: dag.Policy{Timeout: limit}}}, dag.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := dag.Run(ctx, g, b, dag.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var r dag.Result
	s.All(func(_ dag.ID, _ *dag.Node, _ dag.Status, res *dag.Result) { r = *res })
	return r
}

// httpBench is a bench whose URLs respond with what asked returns.
func httpBench(t *testing.T, params map[string]any, asked func(ctx context.Context, url string) (int, error)) *bench {
	b := open(t, Options{HTTP: func(ctx context.Context, r StatusRequest) (int, error) { return asked(ctx, r.URL) }}, params)
	t.Cleanup(func() { b.close(t) })
	return b
}

// The first polls follow each other quickly, later ones at the interval. The step ends with the
// first poll that finds the file.
func TestPollerWaitsForFile(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := open(t, Options{}, map[string]any{"NAME": "it is $(here)"})
		defer b.close(t)
		b.dir = dir
		go func() {
			time.Sleep(5 * time.Second)
			os.WriteFile(filepath.Join(dir, "it is $(here)"), nil, 0o600)
		}()
		began := time.Now()
		r := b.waits(t, t.Context(), &Poller{File: b.text(t, "{NAME}")}, 0)
		took := time.Since(began)
		if r.Status != dag.Succeeded || r.Stdout != nil || took < 5*time.Second || took > 6*time.Second {
			t.Errorf("%+v after %v", r, took)
		}
	})
}

// The message of a step that ran out of time contains the error of the last poll, and no name,
// password or query of a URL.
func TestPollerMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			url    string
			status int
			err    error
			hangs  bool
			want   string
		}{
			{"http://joe:hunter22@db/health?token=abcdef", 503, nil, false, "waited for http://db/health: the response status is 503"},
			{"https://db", 0, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errors.New("connection refused"))}, false, "waited for https://db: connection refused"},
			{"http://nowhere/", 0, &net.DNSError{Err: "no such host", Name: "nowhere"}, false, "waited for http://nowhere/: no such host"},
			{"http://slow/", 0, nil, true, "waited for http://slow/: no answer within 10s"},
		} {
			b := httpBench(t, map[string]any{"URL": c.url}, func(ctx context.Context, url string) (int, error) {
				if url != c.url {
					return 0, fmt.Errorf("asked for %s", url)
				}
				if c.hangs {
					<-ctx.Done()
					return 0, ctx.Err()
				}
				return c.status, c.err
			})
			began := time.Now()
			r := b.waits(t, t.Context(), &Poller{URL: b.text(t, "{URL}")}, 30*time.Second)
			if r.Status != dag.TimedOut || r.ExitCode != dag.ExitTimeout || r.Message != c.want || time.Since(began) != 30*time.Second {
				t.Errorf("%s: %+v, want the message %q", c.url, r, c.want)
			}
		}
	})
}

func TestPollerStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := 0
		b := httpBench(t, nil, func(context.Context, string) (int, error) {
			answers++
			return []int{200, 500, 404}[min(answers, 3)-1], nil
		})
		if r := b.waits(t, t.Context(), &Poller{URL: b.text(t, "http://x"), Status: 404, Interval: time.Minute}, 0); r.Status != dag.Succeeded || answers != 3 {
			t.Errorf("%+v after %d answers", r, answers)
		}
	})
}

// A cancellation ends the step immediately, even during a poll.
func TestPollerCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := httpBench(t, nil, func(ctx context.Context, _ string) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		if r := b.waits(t, ctx, &Poller{URL: b.text(t, "http://x")}, 0); r.Status != dag.Cancelled || time.Since(began) != 3*time.Second {
			t.Errorf("%+v after %v", r, time.Since(began))
		}
	})
}

// However many steps poll, only maxPolls hold a socket.
func TestPollerLimitsPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at, most atomic.Int32
		b := httpBench(t, nil, func(context.Context, string) (int, error) {
			most.Store(max(most.Load(), at.Add(1)))
			time.Sleep(time.Second)
			at.Add(-1)
			return 200, nil
		})
		nodes := make([]dag.Node, 1000)
		for i := range nodes {
			nodes[i] = dag.Node{ID: dag.ID(fmt.Sprintf("w%d", i)), NoSlot: true, Runner: &Poller{URL: b.text(t, "http://x")}}
		}
		g, err := dag.New(nodes, dag.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := dag.Run(t.Context(), g, b, dag.Options{Slots: dag.NewSlots(1)})
		if err != nil || s.Result().Status != dag.Succeeded || most.Load() > maxPolls {
			t.Errorf("%v, %v; %d looks at once", err, s.Result(), most.Load())
		}
	})
}

func TestPollerWaitsForPort(t *testing.T) {
	t.Parallel()
	ear, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ear.Addr().String()
	ear.Close()
	b := open(t, Options{}, map[string]any{"AT": address})
	defer b.close(t)
	r := b.waits(t, t.Context(), &Poller{Port: b.text(t, "{AT}")}, time.Second)
	if r.Status != dag.TimedOut || !strings.HasPrefix(r.Message, "waited for the port "+address+": ") || strings.Contains(r.Message, "dial") {
		t.Errorf("%+v", r)
	}
	if ear, err = net.Listen("tcp", address); err != nil {
		t.Skipf("another program has taken the port: %v", err)
	}
	defer ear.Close()
	if r := b.waits(t, t.Context(), &Poller{Port: b.text(t, "{AT}")}, time.Minute); r.Status != dag.Succeeded {
		t.Errorf("%+v", r)
	}
}

// Targets that can never be available fail immediately and permanently.
func TestPollerRefuses(t *testing.T) {
	b := httpBench(t, map[string]any{"EMPTY": "", "UP": "../admin"}, func(context.Context, string) (int, error) { return 200, nil })
	deaf := open(t, Options{}, nil)
	defer deaf.close(t)
	for _, c := range []struct {
		b    *bench
		l    Poller
		want string
	}{
		{b, Poller{File: b.text(t, "")}, "the path of the file to wait for is empty"},
		{b, Poller{Port: b.text(t, "5432")}, `cannot wait for the port "5432": missing port in address; write HOST:PORT, as in localhost:5432`},
		{b, Poller{Port: b.text(t, ":80")}, "the host is missing"},
		{b, Poller{Port: b.text(t, "db:http")}, "the port must be a number from 1 to 65535"},
		{b, Poller{Port: b.text(t, "db:70000")}, "the port must be a number from 1 to 65535"},
		{b, Poller{URL: b.text(t, "ftp://x")}, `cannot send a request to an address with the scheme "ftp"`},
		{b, Poller{URL: b.text(t, "x")}, `cannot send a request to an address with the scheme ""`},
		{b, Poller{URL: b.text(t, "http://joe:hunter22@:80")}, "has no host"},
		{b, Poller{URL: b.text(t, "http://joe:hunter22@db/users/{EMPTY}")}, "an empty value makes a part of the path of the url empty"},
		{b, Poller{URL: b.text(t, "http://joe:hunter22@db/users/{UP}")}, "the path of the url contains . or .. as a part"},
		{b, Poller{URL: b.text(t, "http://joe:hunter22@db\x01/")}, "the url is not valid"},
		{deaf, Poller{URL: deaf.text(t, "http://x/y?z")}, "cannot request http://x/y: this program has no HTTP client"},
	} {
		r := c.b.waits(t, t.Context(), &c.l, 0)
		if r.Status != dag.Failed || r.Reason != dag.ReasonInput || !r.Permanent || !strings.Contains(r.Message, c.want) || strings.Contains(r.Message, "hunter") {
			t.Errorf("%+v, want a message with %q", r, c.want)
		}
	}
}

// lateContext ends some time after its deadline, as one may whose timer has not fired yet.
type lateContext struct {
	context.Context
	deadline time.Time
}

func (c lateContext) Deadline() (time.Time, bool) { return c.deadline, true }

// A check that the deadline ends says nothing about the target: the error of the one before is kept.
func TestLastErrorAtDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithCancel(t.Context())
		ctx := lateContext{parent, time.Now().Add(150 * time.Millisecond)}
		polls := 0
		err := new(Poller).await(ctx, &Session{pollSlots: make(chan struct{}, 1)}, func(context.Context) error {
			if polls++; polls == 1 {
				return errors.New("connection refused")
			}
			time.Sleep(time.Until(ctx.deadline))
			time.AfterFunc(time.Millisecond, cancel)
			return errors.New("i/o timeout")
		})
		if err == nil || err.Error() != "connection refused" || polls != 2 {
			t.Errorf("%v after %d polls", err, polls)
		}
	})
}
