package steps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/terminal"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// testTerminal is the terminal of a person in tests. Tests can wait for what is shown, and what
// they type reaches the step that has the terminal.
type testTerminal struct {
	mu     sync.Mutex
	screen bytes.Buffer
	keys   chan string
	sizes  chan terminal.Size
	taken  int // how often it was attached
	now    int // how many steps have it
	most   int
	broken error
}

func newDesk() *testTerminal {
	return &testTerminal{keys: make(chan string, 16), sizes: make(chan terminal.Size, 4)}
}

func (d *testTerminal) Attach(dag.ID) (terminal.Attachment, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken != nil {
		return nil, d.broken
	}
	d.taken++
	d.now++
	d.most = max(d.most, d.now)
	return &chair{testTerminal: d, gone: make(chan struct{})}, nil
}

type chair struct {
	*testTerminal
	gone chan struct{}
}

func (c *chair) Read(b []byte) (int, error) {
	select {
	case k, ok := <-c.keys:
		if !ok {
			return 0, io.EOF
		}
		return copy(b, k), nil
	case <-c.gone:
		return 0, os.ErrClosed
	}
}

func (c *chair) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.screen.Write(b)
}

func (c *chair) Size() <-chan terminal.Size { return c.sizes }

func (c *chair) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now--
	close(c.gone)
	return nil
}

// shows waits until the screen contains a text.
func (d *testTerminal) shows(t testing.TB, text string) {
	t.Helper()
	shown := func() string {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.screen.String()
	}
	waittest.Until(t, fmt.Sprintf("%q on the screen", text), func() bool { return strings.Contains(shown(), text) }, func() any { return shown() })
}

// asking makes a command interactive.
func (b *bench) asking(t testing.TB, c *Command, answer ...string) *Command {
	c.Interactive = &terminal.Interactive{}
	if len(answer) > 0 {
		c.Interactive.Default = b.text(t, answer[0])
	}
	return c
}

// Without a person, the default response answers every question, and the output looks as if it had
// been printed into a pipe. What precedes the last answer is kept as stderr.
func TestDefaultResponse(t *testing.T) {
	t.Parallel()
	needtest.Programs(t, "python3")
	b := open(t, Options{Grace: time.Second}, map[string]any{"WHO": "Grace Hopper", "PIN": "hunter2-hunter2"})
	defer b.close(t)
	cases := []struct{ script, answer, want, asked string }{
		{`read -p 'name? ' n; echo "hello $n"`, "Ada", "hello Ada\n", "name? "},
		{`read n; echo "hello $n"`, "{WHO}", "hello Grace Hopper\n", ""},
		{`read -p 'one? ' a; read -p 'two? ' b; read c; echo $a $b $c`, "y", "y y y\n", "one? two? "},
		{`python3 -c 'print("hello", input("name? "))'`, "Ada", "hello Ada\n", "name? "},
		{`python3 -c 'import getpass; print(getpass.getpass("pin? "))'`, "{PIN}", "hunter2-hunter2\n", "pin? \n"},
		{`read -s -p 'password? ' p; echo; echo ${#p}`, "abcdef", "6\n", "password? \n"},
		{`[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo tty < /dev/tty; echo err >&2`, "y", "tty\nerr\n", ""},
		{`stty size`, "y", "24 80\n", ""},
		{`sleep 0.6; echo no question`, "y", "no question\n", ""},
		{`seq 1 20000 | tail -n 1; seq 1 20000`, "y", "20000\n" + numbers(20000), ""},
		{`seq 1 20000; read -p 'go on? ' a; seq 1 30000`, "y", numbers(30000), numbers(20000) + "go on? "},
		{`read -p 'empty? ' a; echo "[$a]"`, "", "[]\n", "empty? "},
		{`read -p 'and then? ' a`, "y", "", "and then? "},
	}
	// On a busy machine a program that is starting may be answered before it asks. So a case may fail,
	// but not each time.
	for try := 1; len(cases) > 0; try++ {
		var commands []*Command
		for _, c := range cases {
			cmd := b.asking(t, b.bash(t, c.script), c.answer)
			cmd.Keep = Stdout | Stderr
			commands = append(commands, cmd)
		}
		again := cases[:0]
		for i, r := range b.runAll(t, commands...) {
			c, asked := cases[i], ""
			if r.Stderr != nil {
				asked = r.Stderr.Raw
			}
			switch {
			case r.Status == dag.Succeeded && stdout(r) == c.want && asked == c.asked:
			case try < 10:
				again = append(again, c)
			default:
				t.Errorf("%s: %+v, printed %.200q, asked %.200q", c.script, r, stdout(r), asked)
			}
		}
		cases = again
	}
}

func numbers(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintln(&s, i+1)
	}
	return s.String()
}

// Without a default response, a question gets the end of input, and a step that keeps asking is
// stopped. A step that asks nothing is not disturbed.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	b := open(t, Options{Grace: time.Second}, nil)
	defer b.close(t)
	cases := []struct {
		script string
		status dag.Status
		reason string
		out    string
	}{
		{`read -p 'name? ' n || echo nobody`, dag.Succeeded, "", "nobody\n"},
		{`read -p 'name? ' n || exit 3`, dag.Failed, dag.ReasonExit, "name? "},
		{`cat; echo read all`, dag.Succeeded, "", "read all\n"},
		{`while ! read -p '? ' n; do :; done`, dag.Failed, terminal.ReasonUnanswered, "? "},
		{`sleep 1.5; echo done`, dag.Succeeded, "", "done\n"},
	}
	var commands []*Command
	for _, c := range cases {
		commands = append(commands, b.asking(t, b.bash(t, c.script)))
	}
	for i, r := range b.runAll(t, commands...) {
		c, out := cases[i], stdout(r)
		if c.reason == terminal.ReasonUnanswered { // how often it has asked by then is up to the shell, but for the bound
			if n := strings.Count(out, c.out); n > 10+1 {
				t.Errorf("%s: asked %d times", c.script, n)
			}
			out = strings.Repeat(c.out, min(1, len(out))) + strings.ReplaceAll(out, c.out, "")
		}
		if r.Status != c.status || r.Reason != c.reason || out != c.out || r.Status == dag.Failed && r.Message == "" {
			t.Errorf("%s: %+v, printed %q", c.script, r, stdout(r))
		}
	}
}

// A default response must not contain characters that a terminal interprets, wherever it comes
// from.
func TestControlCharacterInAnswer(t *testing.T) {
	t.Parallel()
	b := open(t, Options{}, map[string]any{"A": "x\x03y"})
	defer b.close(t)
	if r := b.run(t, b.asking(t, b.bash(t, "read x"), "{A}")); r.Reason != dag.ReasonInput {
		t.Errorf("%+v", r)
	}
}

// A person answers and sees all output immediately. What is typed without echo is in no log.
func TestPersonAnswers(t *testing.T) {
	t.Parallel()
	d := newDesk()
	b := open(t, Options{Terminal: d, LogDir: t.TempDir(), Grace: time.Second}, nil)
	defer b.close(t)
	b.session.Mask().Add("known-secret")
	go func() {
		d.shows(t, "name? ")
		d.keys <- "Ada\r"
		d.shows(t, "password? ")
		d.keys <- "tiger"
		d.keys <- "\r"
		d.shows(t, "size 24 80")
		d.sizes <- terminal.Size{Rows: 33, Cols: 44}
		d.shows(t, "changed 33 44")
		d.keys <- "\x03"
	}()
	r := b.run(t, b.asking(t, b.bash(t, `
		trap 'echo changed $(stty size)' WINCH
		trap 'echo interrupted; exit 7' INT
		read -p 'name? ' n; read -s -p 'password? ' p; echo; echo "$n ${#p} known-secret"
		echo size $(stty size); while :; do sleep 0.05; done`)))
	if r.ExitCode != 7 {
		t.Errorf("%+v", r)
	}
	log := stdout(r)
	want := "name? Ada\npassword? \nAda 5 ***\nsize 24 80\nchanged 33 44\n"
	if text, _ := os.ReadFile(r.Stdout.File); !strings.HasPrefix(string(text), want) || !strings.HasSuffix(string(text), "interrupted\n") {
		t.Errorf("logged %q, raw %q", text, log)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.screen.String(); strings.Contains(s, "tiger") || strings.Contains(s, "known-secret") || !strings.Contains(s, "Ada 5 ***\r\n") {
		t.Errorf("the screen showed %q", s)
	}
}

// The output of a step that succeeded is what it printed after the last answer, without the echo; what
// precedes is kept as stderr. A step that failed keeps the whole conversation, for the person who reads
// its log.
func TestOutputAfterAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ end, output, asked string }{
		{"", "Ada 5 ***\nbye\n", "welcome\nname? Ada\npassword? \n"},
		{"; exit 7", "welcome\nname? Ada\npassword? \nAda 5 ***\nbye\n", ""},
	} {
		d := newDesk()
		b := open(t, Options{Terminal: d, LogDir: t.TempDir(), Grace: time.Second}, nil)
		b.session.Mask().Add("known-secret")
		go func() {
			d.shows(t, "name? ")
			d.keys <- "A"
			d.keys <- "da\r"
			d.shows(t, "password? ")
			d.keys <- "tiger\r"
		}()
		r := b.run(t, b.asking(t, b.bash(t, `echo welcome; read -p 'name? ' n; read -s -p 'password? ' p; echo; echo "$n ${#p} known-secret"; echo bye`+c.end)))
		text := func(o *dag.Output) string {
			if o == nil {
				return ""
			}
			text, err := os.ReadFile(o.File)
			if err != nil || string(text) != o.Inline || o.Size != int64(len(text)) {
				t.Errorf("the file has %q (%v), the result %+v", text, err, o)
			}
			return string(text)
		}
		if output, asked := text(r.Stdout), text(r.Stderr); output != c.output || asked != c.asked {
			t.Errorf("%s: output %q, asked %q; want %q, %q", c.end, output, asked, c.output, c.asked)
		}
		b.close(t)
	}
}

// If a person does not answer in time, the default response is used and the person sees a notice.
// The step does not wait for a person who has left.
func TestPersonIsSilent(t *testing.T) {
	t.Parallel()
	var notices []string
	d := newDesk()
	b := open(t, Options{Terminal: d, Grace: time.Second, Notify: func(n notice.Notice) { notices = append(notices, n.Message) }}, nil)
	defer b.close(t)
	c := b.asking(t, b.bash(t, `read -p 'sure? ' a; echo "said $a"`), "no")
	c.Interactive.Timeout = 300 * time.Millisecond
	d.keys <- "yes but"
	r := b.run(t, c)
	if stdout(r) != "said no\n" || len(notices) != 1 {
		t.Errorf("printed %q, told %q", stdout(r), notices)
	}
	d.shows(t, "no answer within 300ms")

	c.Interactive.Timeout = 0
	close(d.keys)
	if r := b.run(t, c); stdout(r) != "said no\n" {
		t.Errorf("printed %q", stdout(r))
	}
}

// Without a terminal, Options.Prompt is asked what to type when a step waits behind a question, but not for a password.
// After an error the default response is used.
func TestPrompt(t *testing.T) {
	t.Parallel()
	type answer struct {
		line string
		err  error
	}
	gone := errors.New("gone")
	cases := []struct {
		script  string
		answers []answer
		timeout time.Duration
		output  string
		shown   []string
	}{
		{`read -p 'name? ' n; read -p "known-secret? " a; echo "$n $a"`, []answer{{"Ada", nil}, {"yes please", nil}}, 0, "Ada yes please\n", []string{"name? ", "name? Ada\n***? "}}, // two questions
		{`read -p 'name? ' n; read -p 'age? ' a; echo "$n $a"`, []answer{{"", gone}}, 0, "default default\n", []string{"name? "}},                                                    // a person declines
		{`read -p 'name? ' n; echo "$n"`, []answer{{"a\x03", nil}}, 0, "default\n", []string{"name? "}},                                                                              // control characters
		{`read -s -p 'password? ' p; echo; echo "$p"`, nil, 0, "default\n", nil},                                                                                                     // a password
		{`read n; echo "$n"`, nil, 0, "default\n", nil},                                                                                                                              // no question
		{`echo working; sleep 1; echo done`, nil, 0, "working\ndone\n", nil},                                                                                                         // a slow step
		{`read -p 'name? ' n; echo "$n"`, []answer{{"wait", nil}}, 200 * time.Millisecond, "default\n", []string{"name? "}},                                                          // nobody answers
		{`echo 'Sure?'; read n; echo "$n"`, []answer{{"no", nil}}, 0, "no\n", []string{"Sure?\n"}},                                                                                   // a question with a line
	}
	shown := make([][]string, len(cases))
	b := open(t, Options{Grace: time.Second, Prompt: func(ctx context.Context, p terminal.Prompt) (string, error) {
		i, err := strconv.Atoi(strings.TrimPrefix(string(p.Step), "s"))
		if err != nil {
			t.Error(err)
		}
		c := cases[i]
		shown[i] = append(shown[i], p.Text)
		if len(shown[i]) > len(c.answers) {
			t.Errorf("%s: unexpected prompt %q", c.script, p.Text)
			return "", gone
		}
		one := c.answers[len(shown[i])-1]
		if one.line == "wait" {
			<-ctx.Done()
			return "", ctx.Err()
		}
		return one.line, one.err
	}}, nil)
	defer b.close(t)
	b.session.Mask().Add("known-secret")
	var commands []*Command
	for _, c := range cases {
		step := b.asking(t, b.bash(t, c.script), "default")
		step.Interactive.Timeout = c.timeout
		commands = append(commands, step)
	}
	for i, r := range b.runAll(t, commands...) {
		if c := cases[i]; r.Status != dag.Succeeded || stdout(r) != c.output || !slices.Equal(shown[i], c.shown) {
			t.Errorf("%s: %+v, printed %q, want %q; shown %q, want %q", c.script, r, stdout(r), c.output, shown[i], c.shown)
		}
	}
}

// A step that ends while Options.Prompt is asked does not wait for the answer.
func TestPromptStopped(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	b := open(t, Options{Grace: 100 * time.Millisecond, Prompt: func(ctx context.Context, _ terminal.Prompt) (string, error) {
		close(asked)
		<-ctx.Done()
		return "", ctx.Err()
	}}, nil)
	defer b.close(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if r := b.runPolicy(t, ctx, b.asking(t, b.bash(t, "read -p 'name? ' n"), "y"), dag.Policy{}); r.Status != dag.Cancelled {
		t.Errorf("%+v", r)
	}
}

// If the terminal cannot be attached, the step runs as without one.
func TestTerminalRefused(t *testing.T) {
	t.Parallel()
	d := newDesk()
	d.broken = errors.New("it is in the background")
	var notices []string
	b := open(t, Options{Terminal: d, Notify: func(n notice.Notice) { notices = append(notices, n.Message) }}, nil)
	defer b.close(t)
	if r := b.run(t, b.asking(t, b.bash(t, `read -p '? ' a; echo $a`), "y")); stdout(r) != "y\n" || len(notices) != 1 {
		t.Errorf("%+v, told %q", r, notices)
	}
}

// Only one step at a time has the terminal. Without a terminal the steps do not wait for each
// other.
func TestManyAsk(t *testing.T) {
	t.Parallel()
	for _, d := range []*testTerminal{nil, newDesk()} {
		o := Options{Grace: time.Second}
		if d != nil {
			o.Terminal = d
		}
		b := open(t, o, nil)
		stop := make(chan struct{})
		go func() {
			for d != nil {
				select {
				case d.keys <- "y\r":
				case <-stop:
					return
				}
			}
		}()
		var nodes []dag.Node
		for i := range 20 {
			nodes = append(nodes, dag.Node{ID: dag.ID(fmt.Sprint("s", i)), Runner: b.asking(t, b.bash(t, `read -p '? ' a; [ "$a" = y ]`), "y")})
		}
		g, err := dag.New(nodes, dag.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := dag.Run(context.Background(), g, b, dag.Options{Slots: dag.NewSlots(20)})
		if err != nil || s.Result().Status != dag.Succeeded {
			t.Error(s.Result(), err)
		}
		close(stop)
		if d != nil && (d.taken != 20 || d.most != 1) {
			t.Errorf("attached %d times, %d at once", d.taken, d.most)
		}
		b.close(t)
	}
}

// A timeout and a cancellation end a step that waits for an answer or for the terminal.
func TestAskingStopped(t *testing.T) {
	t.Parallel()
	d := newDesk()
	b := open(t, Options{Terminal: d, Grace: 200 * time.Millisecond}, nil)
	defer b.close(t)
	tag := fmt.Sprint("300.5", os.Getpid())
	asks := b.asking(t, b.bash(t, "trap '' TERM HUP INT; sleep "+tag+" & read -p 'name? ' n; sleep "+tag))
	if r := b.runPolicy(t, context.Background(), asks, dag.Policy{Timeout: 300 * time.Millisecond}); r.Status != dag.TimedOut {
		t.Errorf("timeout: %+v", r)
	}
	other := b.session.desk.Dialog(&terminal.Interactive{}, "other", nil)
	if !other.Acquire(context.Background()) {
		t.Fatal("the terminal is not free")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if r := b.runPolicy(t, ctx, asks, dag.Policy{}); r.Status != dag.Cancelled {
		t.Errorf("cancel: %+v", r)
	}
	other.Release()
	if n := alive(tag); n > 0 {
		t.Errorf("%d processes are alive", n)
	}
}

// A person's terminal that accepts no more output does not prevent the step from being stopped.
func TestStalledTerminal(t *testing.T) {
	t.Parallel()
	b := open(t, Options{Terminal: stalled{newDesk()}, Grace: 100 * time.Millisecond}, nil)
	c := b.asking(t, b.bash(t, "echo x; sleep 300"), "y")
	c.Interactive.Timeout = 50 * time.Millisecond
	if r := b.runPolicy(t, context.Background(), c, dag.Policy{Timeout: 300 * time.Millisecond}); r.Status != dag.TimedOut {
		t.Errorf("%+v", r)
	}
	b.close(t)
}

type stalled struct{ *testTerminal }

func (s stalled) Attach(step dag.ID) (terminal.Attachment, error) {
	a, err := s.testTerminal.Attach(step)
	return stuck{a.(*chair)}, err
}

type stuck struct{ *chair }

func (s stuck) Write([]byte) (int, error) {
	<-s.gone
	return 0, os.ErrClosed
}
