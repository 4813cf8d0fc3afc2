package steps

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// A timeout and a cancellation end all processes of the step and determine the status of its
// Result.
func TestStopped(t *testing.T) {
	t.Parallel()
	tag := fmt.Sprint("300.3", os.Getpid())
	for _, masked := range []bool{false, true} {
		b := open(t, Options{Grace: 200 * time.Millisecond}, nil)
		if masked {
			b.session.Mask().Add("secret")
		}
		dir := t.TempDir()
		var r dag.Result
		for limit := 100 * time.Millisecond; ; limit *= 4 { // until it has come as far as it is to come
			ready := filepath.Join(dir, limit.String())
			script := "echo before; trap '' TERM; (setsid sleep " + tag + " &); sleep " + tag + " & : >" + ready + "; sleep " + tag
			r = b.runPolicy(t, context.Background(), b.bash(t, script), dag.Policy{Timeout: limit})
			if exists(ready) || limit > waittest.Limit {
				break
			}
		}
		if r.Status != dag.TimedOut || r.ExitCode != dag.ExitTimeout || stdout(r) != "before\n" {
			t.Errorf("timeout: %+v, printed %q", r, stdout(r))
		}
		ready := filepath.Join(dir, "cancel")
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			waittest.Holds(waittest.Limit, func() bool { return exists(ready) })
			cancel()
		}()
		r = b.runPolicy(t, ctx, b.bash(t, "trap 'exit 0' TERM; sleep "+tag+" & : >"+ready+"; wait"), dag.Policy{})
		cancel()
		if r.Status != dag.Cancelled || r.ExitCode != dag.ExitCancelled {
			t.Errorf("cancel: %+v", r)
		}
		if n := alive(tag); n > 0 {
			t.Errorf("%d processes are alive", n)
		}
		b.close(t)
	}
}

func TestForce(t *testing.T) {
	t.Parallel()
	force := make(chan struct{})
	const grace = 4 * time.Minute
	b := open(t, Options{Grace: grace, Force: force}, nil)
	time.AfterFunc(100*time.Millisecond, func() { close(force) })
	began := time.Now()
	r := b.runPolicy(t, context.Background(), b.bash(t, "trap '' TERM; while :; do sleep 0.01; done"), dag.Policy{Timeout: 50 * time.Millisecond})
	if r.Status != dag.TimedOut || time.Since(began) >= grace {
		t.Errorf("%+v after %v", r, time.Since(began))
	}
	b.close(t)
}

// A background process that holds the output open does not delay the step. It lives until the run
// ends, prints into the log, and is then ended with a notice.
func TestBackground(t *testing.T) {
	t.Parallel()
	tag := fmt.Sprint("300.4", os.Getpid())
	for _, masked := range []bool{false, true} {
		b := open(t, Options{LogDir: t.TempDir(), Grace: time.Second}, nil)
		if masked {
			b.session.Mask().Add("secret")
		}
		gate := filepath.Join(t.TempDir(), "gate")
		r := b.run(t, b.bash(t, "echo now; (until [ -e "+gate+" ]; do sleep 0.01; done; echo later secret; exec sleep "+tag+") &"))
		if r.Status != dag.Succeeded || stdout(r) != "now\n" {
			t.Errorf("masked %t: %+v %q", masked, r, stdout(r))
		}
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		waittest.Until(t, "process of the background", func() bool { return alive(tag) > 0 })
		closed := b.close(t)
		if alive(tag) > 0 {
			t.Error("it is alive")
		}
		if len(closed) != 1 || closed[0].Code != notice.Background || !strings.Contains(closed[0].Message, "sleep (pid ") {
			t.Errorf("notices of Close: %+v", closed)
		}
		text, _ := os.ReadFile(r.Stdout.File)
		want := "now\nlater secret\n"
		if masked {
			want = "now\nlater ***\n"
			if notices := b.noticed(); notices[0].Code != notice.OutputOpen {
				t.Errorf("notices: %+v", notices)
			}
		}
		if string(text) != want {
			t.Errorf("log %q, want %q", text, want)
		}
	}
}

func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	var followed lockedBuffer
	b := open(t, Options{LogDir: dir, Follow: func(dag.ID, Streams) io.Writer { return &followed }}, map[string]any{"KEY": "hunter2-hunter2"})
	c := b.bash(t, `printf hunter2-; sleep 0.05; echo hunter2; echo {KEY} >&2; printf %s {KEY} | base64; exit 3`)
	c.Masked, c.Keep = []*expr.Template{b.text(t, "{KEY}")}, Stdout|Stderr
	r := b.run(t, c)
	if want := "hunter2-hunter2\naHVudGVyMi1odW50ZXIy\n"; stdout(r) != want || stderr(r) != "hunter2-hunter2\n" {
		t.Errorf("references see %q and %q", stdout(r), stderr(r))
	}
	if r.Stdout.Inline != "***\n***\n" || !r.Stdout.Masked || r.Stderr.Inline != "***\n" {
		t.Errorf("inline %q, %q", r.Stdout.Inline, r.Stderr.Inline)
	}
	r = b.run(t, &Command{Template: b.parse(t, "/no/{KEY}", expr.Argv)})
	if strings.Contains(r.Message, "hunter2") || !strings.Contains(r.Message, "***") {
		t.Error(r.Message)
	}
	c.Masked = []*expr.Template{b.text(t, "abc")}
	if r := b.run(t, c); r.Reason != dag.ReasonInput || r.ExitCode != 1 {
		t.Errorf("short secret: %+v", r)
	}
	b.close(t)
	files, _ := filepath.Glob(dir + "/*")
	for _, f := range files {
		if text, _ := os.ReadFile(f); bytes.Contains(text, []byte("hunter2")) {
			t.Errorf("%s holds the secret: %q", f, text)
		}
	}
	if strings.Contains(followed.String(), "hunter2") {
		t.Errorf("followed: %q", followed.String())
	}
}

// A follower sees output while the step runs, and all of it in the end.
func TestFollow(t *testing.T) {
	var got lockedBuffer
	b := open(t, Options{Follow: func(path dag.ID, s Streams) io.Writer {
		if s == Stderr {
			return nil
		}
		return &got
	}}, nil)
	defer b.close(t)
	flag := filepath.Join(t.TempDir(), "flag")
	go func() {
		if waittest.Holds(waittest.Limit, func() bool { return strings.Contains(got.String(), "first") }) {
			os.WriteFile(flag, nil, 0o600)
		}
	}()
	r := b.run(t, b.bash(t, "echo first; echo err >&2; for i in $(seq 12000); do [ -e "+flag+" ] && break; sleep 0.01; done; [ -e "+flag+" ] && echo last"))
	if r.ExitCode != 0 || got.String() != "first\nlast\n" {
		t.Errorf("exit %d, followed %q", r.ExitCode, got.String())
	}
}

// However much a step prints, little memory is used and all output is kept.
func TestMuchOutput(t *testing.T) {
	size := sizetest.Of[int64](64<<20, 256<<20, 1<<30)
	for _, mode := range []string{"plain", "followed", "masked"} {
		var followed atomic.Int64
		o := Options{}
		if mode == "followed" {
			o.Follow = func(dag.ID, Streams) io.Writer {
				return writerFunc(func(p []byte) (int, error) { followed.Add(int64(len(p))); return len(p), nil })
			}
		}
		b := open(t, o, nil)
		n := size
		if mode == "masked" {
			n = size / 16
			b.session.Mask().Add("not-in-there")
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r := b.run(t, b.argv(t, fmt.Sprintf("head -c %d /dev/zero", n)))
		runtime.ReadMemStats(&after)
		if r.ExitCode != 0 || r.Stdout.Size != n || mode == "followed" && followed.Load() != n {
			t.Errorf("%s: exit %d, %d bytes, followed %d, want %d", mode, r.ExitCode, r.Stdout.Size, followed.Load(), n)
		}
		if grown := int64(after.Sys) - int64(before.Sys); grown > 20<<20 {
			t.Errorf("%s: memory grew by %d MiB", mode, grown>>20)
		}
		if info, err := os.Stat(r.Stdout.File); err != nil || info.Size() != n {
			t.Errorf("%s: %v, %v", mode, info, err)
		}
		b.close(t)
	}
}

// Many steps that run at the same time use few threads.
func TestThreads(t *testing.T) {
	b := open(t, Options{Grace: time.Second}, nil)
	defer b.close(t)
	cmd := b.argv(t, "sleep 300")
	var nodes []dag.Node
	for i := range 256 {
		nodes = append(nodes, dag.Node{ID: dag.ID(fmt.Sprint("s", i)), Runner: cmd})
	}
	g, err := dag.New(nodes, dag.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	tasks := func() int { d, _ := os.ReadDir("/proc/self/task"); return len(d) }
	before, most := tasks(), 0
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		if !waittest.Holds(waittest.Limit, func() bool { most = tasks(); return children() >= 256 }) {
			t.Errorf("%d steps run at once, want 256", children())
		}
		cancel()
	}()
	st, err := dag.Run(ctx, g, b, dag.Options{Slots: dag.NewSlots(256)})
	if err != nil || st.Result().Status != dag.Cancelled {
		t.Errorf("%v, %v", st.Result(), err)
	}
	if most > before+128 { // a thread for each step would be 256
		t.Errorf("%d threads, %d before", most, before)
	}
}

func children() int {
	n := 0
	dirs, _ := filepath.Glob("/proc/self/task/*/children")
	for _, d := range dirs {
		text, _ := os.ReadFile(d)
		n += len(bytes.Fields(text))
	}
	return n
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// alive counts the processes that sleep for exactly this long.
func alive(tag string) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if text, _ := os.ReadFile(f); string(text) == "sleep\x00"+tag+"\x00" {
			n++
		}
	}
	return n
}
