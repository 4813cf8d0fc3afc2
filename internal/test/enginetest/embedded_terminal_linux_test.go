package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/engine/terminal"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// typist is a Terminal of a program that embeds flowrun: it knows one answer, and
// types it when asked something.
type typist struct {
	answer string
	stdout bool

	mu    sync.Mutex
	steps []dag.ID
	shown bytes.Buffer
}

func (y *typist) Stdout() bool { return y.stdout }

func (y *typist) Attach(step dag.ID) (terminal.Attachment, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.steps = append(y.steps, step)
	r, w := io.Pipe()
	return &typing{typist: y, PipeReader: r, keys: w}, nil
}

type typing struct {
	*typist
	*io.PipeReader
	keys *io.PipeWriter
}

func (y *typing) Write(b []byte) (int, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.shown.Write(b)
	if bytes.HasSuffix(b, []byte("? ")) {
		go io.WriteString(y.keys, y.answer+"\r")
	}
	return len(b), nil
}

func (*typing) Size() <-chan terminal.Size { return nil }

// A program that embeds flowrun answers, in nested tools as well. The output of a step is what it printed
// after the answer. What was shown on the program's terminal is not written to stdout again where that
// is the same.
func TestWithTerminal(t *testing.T) {
	t.Parallel()
	for _, same := range []bool{false, true} {
		b := newBed(t)
		b.file("inner.yaml", "name: inner\ndescription: Inner\ninteractive: true\nbash: read -p 'inside? ' a; echo \"in $a\"\n")
		y := &typist{answer: "Ada", stdout: same}
		var out bytes.Buffer
		res := b.run(context.Background(), `
steps:
  - name: nested
    use-tool: inner
  - name: asks
    interactive: true
    error-handling: {retry: {attempts: 1, delay: 1ms}}
    bash: read -p 'name? ' n; echo "hello $n, {nested.output}"
`, nil, engine.WithTerminal(y), engine.WithStdout(&out))
		if y.shown.Len() == 0 || res.Status != dag.Succeeded {
			t.Errorf("%s %s, the terminal showed %q", res.Status, res.Message, &y.shown)
		}
		want := "hello Ada, in Ada\n"
		if same {
			want = ""
		}
		if out.String() != want {
			t.Errorf("same %t: stdout got %q, want %q", same, &out, want)
		}
		if diff := cmp.Diff([]dag.ID{"nested/inner", "asks"}, y.steps); diff != "" {
			t.Error(diff)
		}
	}
}

// Whoever starts the processes, an interactive step has a terminal, and its tree ends
// with it.
func TestTerminalThroughHelper(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.config.Grace = 200 * time.Millisecond
	tag := fmt.Sprintf("300.77%d", os.Getpid())
	res := b.run(context.Background(), strings.ReplaceAll(`
interactive: true
interactive-options: {default-response: y}
steps:
  - name: asks
    bash: read -p '? ' a; tty >/dev/tty; ps -o tty= -p $$; [ $a = y ]
  - name: slow
    timeout: 300ms
    continue-on-error: true
    bash: trap '' HUP TERM; sleep TAG & read x; read y; sleep TAG
`, "TAG", tag), nil)
	b.want(res, dag.Succeeded, map[string]string{"asks": "succeeded", "slow": "timed-out"})
	if out := res.Step("asks").Output; strings.Count(out, "pts/") != 2 {
		t.Errorf("printed %q", out)
	}
	if n := len(living(tag)); n > 0 {
		t.Errorf("%d processes are alive", n)
	}
}

func living(text string) (found []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range all {
		if line, _ := os.ReadFile(f); bytes.Contains(line, []byte(text)) {
			found = append(found, string(line))
		}
	}
	return found
}

// What streams to a function is heard there, tries and nested steps told apart; what
// streams to the console is heard there unless it goes to stdout.
func TestWithStream(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.file("inner.yaml", "name: inner\ndescription: Inner\nsteps:\n  - name: say\n    output: {mode: stream, stream-callback: function}\n    bash: echo inside\n")
	const text = `
environment: {variables: {KEY: a secret}, secrets: [KEY]}
steps:
  - name: nested
    use-tool: inner
  - name: tries
    output: {mode: stream, stream-callback: function}
    error-handling: {retry: {attempts: 1, delay: 1ms}}
    bash: echo "a secret"; echo "$FLOWRUN_ATTEMPT" >&2; [ $FLOWRUN_ATTEMPT = 2 ]
  - name: shown
    output: {mode: stream}
    bash: echo result; echo aside >&2
`
	p := b.compile(text)
	var ds tool.Diagnostics
	if _, err := engine.New(b.config).Run(context.Background(), p, nil); !errors.As(err, &ds) || len(ds) != 2 || ds[0].Code != "no-function" {
		t.Errorf("without a function: %v", err)
	}
	for _, live := range []bool{false, true} {
		heard := map[string]string{}
		hear := func(to string) func(steps.Chunk) {
			return func(c steps.Chunk) {
				heard[fmt.Sprint(to, " ", c.Step, " ", c.Attempt, " ", c.Stream == steps.Stderr)] += string(c.Text)
			}
		}
		options := []engine.RunOption{engine.WithStream(hear("f")), engine.WithConsole(hear("c"))}
		if live {
			options = append(options, engine.WithStdout(io.Discard))
		}
		b.run(context.Background(), text, nil, options...)
		want := map[string]string{"f nested/say 1 false": "inside\n", "f tries 1 false": "***\n", "f tries 1 true": "1\n",
			"f tries 2 false": "***\n", "f tries 2 true": "2\n", "c shown 1 true": "aside\n"}
		if !live {
			want["c shown 1 false"] = "result\n"
		}
		if diff := cmp.Diff(want, heard); diff != "" {
			t.Errorf("live %t: %s", live, diff)
		}
	}
}
