package steps

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/commandline"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// work is a Runner that uses Command.Do.
type work struct {
	hands *Command
	do    func(*Work) (dag.Result, error)
}

func (w work) Run(_ context.Context, c *dag.Call) (dag.Result, error) {
	return w.hands.Do(context.Background(), c, w.do)
}

func (b *bench) work(t *testing.T, c *Command, do func(*Work) (dag.Result, error)) (r dag.Result) {
	t.Helper()
	g, err := dag.New([]dag.Node{{ID: "step", Runner: work{c, do}}}, dag.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = dag.Run(context.Background(), g, b, dag.Options{Sinks: []dag.Sink{dag.SinkFunc(func(e dag.Event) {
		if e.Kind == dag.StepFinished {
			r = *e.Result
		}
	})}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Work has the environment of a command, and its output is kept, masked and limited like that of a
// command.
func TestDo(t *testing.T) {
	t.Parallel()
	for name, folder := range map[string]string{"no log folder": "", "a log folder": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			b := open(t, Options{LogDir: folder}, map[string]any{"P": "s3cret-value"})
			defer b.close(t)
			b.environ = []string{"OF_THE_TOOL=1"}
			c := &Command{Limit: 12, Keep: Stdout, Env: []EnvVar{{Name: "MINE", Value: b.parse(t, "{P}!", expr.Plain)}},
				Masked: []*expr.Template{b.parse(t, "{P}", expr.Plain)}}
			var late *Work
			r := b.work(t, c, func(w *Work) (dag.Result, error) {
				late = w
				if find := commandline.Lookup(w.Env, "MINE"); find != "s3cret-value!" || commandline.Lookup(w.Env, "OF_THE_TOOL") != "1" || commandline.Lookup(w.Env, "FLOWRUN_ATTEMPT") != "1" {
					t.Errorf("MINE is %q in %q", find, w.Env)
				}
				w.Print(Stderr, "tells s3cret")
				w.Print(Stderr, "-value\n")
				w.Print(Stdout, "a result that is cut")
				return dag.Result{Status: dag.Failed, ExitCode: 3, Message: "has s3cret-value"}, nil
			})
			if err := late.Print(Stdout, "too late"); err != nil {
				t.Error(err)
			}
			if r.ExitCode != 3 || r.Message != "has ***" || r.Stderr == nil || r.Stderr.Inline != "tells ***\n" {
				t.Errorf("%+v, stderr %+v", r, r.Stderr)
			}
			if o := r.Stdout; o == nil || o.Raw != "a result tha" || !o.Truncated || o.Size != int64(len("a result that is cut")) {
				t.Errorf("stdout %+v", o)
			}
		})
	}
}

// Output over the limit fails the work if it may not be truncated. No output is lost when many
// goroutines print at the same time.
func TestDoTooMuch(t *testing.T) {
	t.Parallel()
	b := open(t, Options{}, nil)
	defer b.close(t)
	r := b.work(t, &Command{Limit: 1000, NoTruncation: true}, func(w *Work) (dag.Result, error) {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { w.Print(Stderr, strings.Repeat("x", 99)+"\n") })
		}
		all.Wait()
		return dag.Result{Status: dag.Succeeded}, nil
	})
	if r.Reason != ReasonOutputTooLarge || r.Stderr.Size != 2000 || strings.Contains(strings.ReplaceAll(r.Stderr.Inline, strings.Repeat("x", 99)+"\n", ""), "x") {
		t.Errorf("%s %s: %+v", r.Reason, r.Message, r.Stderr)
	}
}

// Work that prints more than max-output fails, and what is over the limit is dropped.
func TestDoOverLimit(t *testing.T) {
	t.Parallel()
	b := open(t, Options{}, nil)
	defer b.close(t)
	b.confine.MaxOutput = 100
	r := b.work(t, &Command{}, func(w *Work) (dag.Result, error) {
		w.Print(Stdout, strings.Repeat("x", 60))
		w.Print(Stderr, strings.Repeat("y", 60))
		return dag.Result{Status: dag.Succeeded}, nil
	})
	if r.Status != dag.Failed || r.Reason != reasonOutput || r.ExitCode != 1 || r.Stdout.Size+r.Stderr.Size != 100 {
		t.Errorf("%s %s %d: %+v %+v", r.Status, r.Reason, r.ExitCode, r.Stdout, r.Stderr)
	}
}

// An error of the work stops the run and leaves nothing open.
func TestDoBreaks(t *testing.T) {
	t.Parallel()
	b := open(t, Options{}, nil)
	defer b.close(t)
	broken := errors.New("broken")
	g, err := dag.New([]dag.Node{{ID: "step", Runner: work{&Command{}, func(w *Work) (dag.Result, error) {
		w.Print(Stdout, "begun")
		return dag.Result{}, broken
	}}}}, dag.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dag.Run(context.Background(), g, b, dag.Options{}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
