package steps

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// chunkRecorder collects what is streamed.
type chunkRecorder struct {
	mu   sync.Mutex
	text map[Streams]string
	all  []Chunk
}

func (e *chunkRecorder) hear(c Chunk) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c.Text = []byte(string(c.Text))
	e.all = append(e.all, c)
	if e.text == nil {
		e.text = map[Streams]string{}
	}
	e.text[c.Stream] += string(c.Text)
}

// Lines are delivered while the step runs, complete, in order and masked. The Result is the same as
// without streaming.
func TestStream(t *testing.T) {
	t.Parallel()
	for _, masked := range []bool{false, true} {
		var e chunkRecorder
		first := make(chan bool, 100)
		b := open(t, Options{Console: func(c Chunk) { e.hear(c); first <- true }}, nil)
		if masked {
			b.session.Mask().Add("known-secret")
		}
		gate := filepath.Join(t.TempDir(), "gate")
		go func() {
			<-first // delivered before the step has ended, or this hangs
			os.WriteFile(gate, nil, 0o600)
		}()
		c := b.bash(t, "echo one; echo err >&2; until [ -e "+gate+" ]; do sleep 0.01; done; printf 'tw'; sleep 0.1; echo o; printf 'a known-'; sleep 0.2; echo secret; printf end")
		c.Stream, c.Keep = &Stream{To: StreamToConsole}, Stdout|Stderr
		r := b.run(t, c)
		b.close(t)
		want := "one\ntwo\na known-secret\nend"
		if stdout(r) != want || stderr(r) != "err\n" {
			t.Errorf("result %q %q", stdout(r), stderr(r))
		}
		if masked {
			want = strings.ReplaceAll(want, "known-secret", "***")
		}
		if e.text[Stdout] != want || e.text[Stderr] != "err\n" {
			t.Errorf("masked %t: heard %q", masked, e.text)
		}
		for i, c := range e.all {
			if text := string(c.Text); c.Step != "step" || c.Attempt != 1 || !strings.HasSuffix(text, "\n") && text != "end" {
				t.Errorf("chunk %d is %+v %q", i, c, text)
			}
		}
	}
}

// A slow listener delays no step and gets everything. Steps that run at the same time are delivered
// line by line.
func TestStreamSlowly(t *testing.T) {
	t.Parallel()
	var e chunkRecorder
	release := make(chan bool)
	b := open(t, Options{LogDir: t.TempDir(), Function: func(c Chunk) { <-release; e.hear(c) }}, nil)
	c := b.bash(t, `for i in {1..20000}; do echo "$FLOWRUN_STEP line $i"; done`)
	c.Stream = &Stream{To: StreamToFunction}
	var nodes []dag.Node
	for i := range 4 {
		nodes = append(nodes, dag.Node{ID: dag.ID(fmt.Sprint("s", i)), Runner: c})
	}
	g, err := dag.New(nodes, dag.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := dag.Run(t.Context(), g, b, dag.Options{})
	if err != nil || s.Result().Status != dag.Succeeded {
		t.Fatal(s.Result(), err)
	}
	close(release)
	if notices := b.close(t); len(notices) > 0 {
		t.Error(notices)
	}
	next := map[dag.ID]int{}
	for _, c := range e.all {
		for line := range strings.Lines(string(c.Text)) {
			next[c.Step]++
			if want := fmt.Sprintf("%s line %d\n", c.Step, next[c.Step]); line != want {
				t.Fatalf("heard %q, want %q", line, want)
			}
		}
	}
	for id, n := range next {
		if n != 20000 || len(next) != 4 {
			t.Errorf("%s: heard %d lines", id, n)
		}
	}
}

// A listener that never returns does not delay a run that is stopped by force.
func TestStreamListenerHangs(t *testing.T) {
	t.Parallel()
	force, release := make(chan struct{}), make(chan bool)
	b := open(t, Options{Force: force, Function: func(Chunk) { <-release }}, nil)
	c := b.sh(t, "echo one")
	c.Stream = &Stream{To: StreamToFunction}
	if r := b.run(t, c); stdout(r) != "one\n" {
		t.Errorf("%+v", r)
	}
	time.AfterFunc(50*time.Millisecond, func() { close(force) })
	if n := b.close(t); len(n) != 1 || n[0].Code != notice.Stream {
		t.Error(n)
	}
	close(release)
}

// A run that is forced to end reports no missing output if nothing was streamed, or if everything
// was delivered.
func TestStreamForced(t *testing.T) {
	for range 30 {
		force := make(chan struct{})
		close(force)
		var notices []notice.Notice
		s, err := Open(Options{Force: force, Notify: func(n notice.Notice) { notices = append(notices, n) }})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(t.Context()); err != nil || len(notices) > 0 {
			t.Fatal(notices, err)
		}
	}
	force := make(chan struct{})
	var e chunkRecorder
	b := open(t, Options{Force: force, Function: e.hear}, nil)
	c := b.sh(t, "echo heard")
	c.Stream = &Stream{To: StreamToFunction}
	b.run(t, c)
	heard := func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.text[Stdout] == "heard\n"
	}
	waittest.Until(t, "echo", heard)
	close(force)
	if notices := b.close(t); len(notices) > 0 || !heard() {
		t.Error(notices, e.text)
	}
}

// The first attempt truncates the file, later ones append to it. It contains both streams, masked,
// is readable by this user only, and is complete when the step has ended.
func TestStreamToFile(t *testing.T) {
	dir := t.TempDir()
	b := open(t, Options{}, map[string]any{"NAME": "build"})
	defer b.close(t)
	b.session.Mask().Add("known-secret")
	b.dir = dir
	path := filepath.Join(dir, "build.log")
	if err := os.WriteFile(path, []byte("of the last run\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := b.sh(t, "echo try $FLOWRUN_ATTEMPT known-secret; sleep 0.1; printf err >&2; [ $FLOWRUN_ATTEMPT = 2 ]")
	c.Stream = &Stream{To: StreamToFile, File: b.text(t, "{NAME}.log")}
	if r := b.runPolicy(t, t.Context(), c, dag.Policy{Attempts: 1}); r.Status != dag.Succeeded {
		t.Errorf("%+v", r)
	}
	text, err := os.ReadFile(path)
	if lines := "try 1 ***\nerr\ntry 2 ***\nerr\n"; err != nil || string(text) != lines {
		t.Errorf("%q, want %q, %v", text, lines, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Error(info.Mode(), err)
	}
	for _, bad := range []string{"no/such/folder.log", ".", os.DevNull} {
		c.Stream.File = b.text(t, bad)
		if r := b.run(t, c); r.Reason != ReasonStartFailed || !strings.Contains(r.Message, "output.file") {
			t.Errorf("%s: %+v", bad, r)
		}
	}
}
