package runlog_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/observe/runlog"
)

func whole(text string) *dag.Output { return &dag.Output{Inline: text, Size: int64(len(text))} }

// TestPieces: what a step printed is read once and in order, whether it is in files, in events, or in both.
func TestPieces(t *testing.T) {
	dir := t.TempDir()
	started := dag.Event{Kind: dag.StepStarted, Node: "a"}
	end := func(kind dag.Kind, attempt int, stdout *dag.Output) dag.Event {
		return dag.Event{Kind: kind, Node: "a", Result: &dag.Result{Attempts: attempt, Stdout: stdout, Ended: time.Now()}}
	}
	in := func(name string) *dag.Output { // of a state directory that was moved
		return &dag.Output{Inline: "begin", Size: 100, File: "/elsewhere/runs/r/logs/" + name}
	}
	resumed := dag.Event{Kind: dag.RunResumed}
	for name, c := range map[string]struct {
		files  string // names and contents
		events []dag.Event
		want   string // attempt:text
	}{
		"in the events":               {"", []dag.Event{started, end(dag.StepFinished, 1, whole("one"))}, "1:one"},
		"running":                     {"a.out=on", []dag.Event{started}, "1:on"},
		"removed just now":            {"a.out=one", []dag.Event{started, end(dag.StepFinished, 1, whole("one"))}, "1:one"},
		"retried":                     {"", []dag.Event{started, end(dag.StepRetrying, 1, whole("one")), started, end(dag.StepFinished, 2, whole("two"))}, "1:one 2:two"},
		"retried, first one in file":  {"a.out=large", []dag.Event{started, end(dag.StepRetrying, 1, in("a.out")), started, end(dag.StepFinished, 2, whole("two"))}, "1:large 2:two"},
		"retried, running":            {"a~try2.out=tw", []dag.Event{started, end(dag.StepRetrying, 1, whole("one")), started}, "1:one 2:tw"},
		"cancelled between attempts":  {"", []dag.Event{started, end(dag.StepRetrying, 1, whole("one")), end(dag.StepFinished, 1, whole("one"))}, "1:one"},
		"fallback":                    {"", []dag.Event{started, end(dag.StepFallback, 1, whole("one")), end(dag.StepFinished, 1, whole("other"))}, "1:one 1:other"},
		"fallback running":            {"a.out=oth", []dag.Event{started, end(dag.StepFallback, 1, whole("one"))}, "1:one 1:oth"},
		"killed":                      {"a.out=on", []dag.Event{started, resumed, started, end(dag.StepFinished, 1, whole("one"))}, "1:on 1:one"},
		"killed, running":             {"a.out=on a~2.out=o", []dag.Event{started, resumed, started}, "1:on 1:o"},
		"run again in a resumed run":  {"", []dag.Event{started, end(dag.StepFinished, 1, whole("bad")), resumed, started, end(dag.StepFinished, 1, whole("good"))}, "1:bad 1:good"},
		"reused":                      {"", []dag.Event{end(dag.StepFinished, 1, whole("kept"))}, "1:kept"},
		"of a moved state directory":  {"a.out=large", []dag.Event{started, end(dag.StepFinished, 1, in("a.out"))}, "1:large"},
		"lost file":                   {"", []dag.Event{started, end(dag.StepFinished, 1, in("a.out"))}, "1:begin"},
		"files of an earlier version": {"a.out=one a~2.out=other", []dag.Event{started, end(dag.StepFallback, 1, in("a.out")), end(dag.StepFinished, 1, in("a~2.out"))}, "1:one 1:other"},
	} {
		t.Run(name, func(t *testing.T) {
			logs := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
			os.Mkdir(logs, 0o700)
			for _, f := range strings.Fields(c.files) {
				file, text, _ := strings.Cut(f, "=")
				write(t, logs, file, text)
			}
			var got []string
			to := func(_ rundir.Stream, _ dag.ID, attempt int) io.Writer {
				return writerFunc(func(b []byte) { got = append(got, fmt.Sprintf("%d:%s", attempt, b)) })
			}
			if err := runlog.New(logs, nil, "").Copy(c.events, to); err != nil || strings.Join(got, " ") != c.want {
				t.Errorf("Copy: %q, %v; want %q", got, err, c.want)
			}
			parts, known, err := runlog.Parts(logs, nil, c.events, "a")
			if err != nil || !known {
				t.Fatal(known, err)
			}
			var text strings.Builder
			for _, p := range parts {
				o, err := p.Open()
				if err != nil {
					t.Fatal(err)
				}
				b, err := io.ReadAll(io.NewSectionReader(o, 0, o.Size()))
				if fmt.Fprintf(&text, "%s", b); err != nil || p.Bytes != o.Size() || int64(len(b)) != p.Bytes {
					t.Errorf("%d bytes, %d, %d: %v", len(b), p.Bytes, o.Size(), err)
				}
				o.Close()
			}
			want := ""
			for _, w := range strings.Fields(c.want) {
				want += w[2:]
			}
			if text.String() != want {
				t.Errorf("Parts: %q, want %q", &text, want)
			}
		})
	}
}

// TestFollowed: a reader that follows a run gets every byte once, also when a file gives way to the events.
func TestFollowed(t *testing.T) {
	logs := t.TempDir()
	var got bytes.Buffer
	r := runlog.New(logs, nil, "")
	var events []dag.Event
	next := func(want string, more ...dag.Event) {
		t.Helper()
		events = append(events, more...)
		if err := r.Copy(events, func(rundir.Stream, dag.ID, int) io.Writer { return &got }); err != nil || got.String() != want {
			t.Fatalf("%q, %v; want %q", &got, err, want)
		}
	}
	ended := func(kind dag.Kind, attempt int, text string) dag.Event {
		return dag.Event{Kind: kind, Node: "a", Result: &dag.Result{Attempts: attempt, Stdout: whole(text)}}
	}
	next("", dag.Event{Kind: dag.StepStarted, Node: "a"})
	write(t, logs, "a.out", "one ")
	next("one ")
	write(t, logs, "a.out", "more ")
	next("one more ", ended(dag.StepRetrying, 1, "one more ")) // recorded, and not removed yet
	os.Remove(filepath.Join(logs, "a.out"))
	next("one more ")
	write(t, logs, "a~try2.out", "two ")
	next("one more two ", dag.Event{Kind: dag.StepStarted, Node: "a"})
	write(t, logs, "a~try2.out", "and ")
	os.Remove(filepath.Join(logs, "a~try2.out"))
	next("one more two and ", ended(dag.StepFinished, 2, "two and "))
	next("one more two and ")
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }
