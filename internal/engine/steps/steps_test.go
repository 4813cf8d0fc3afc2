package steps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

func TestMain(m *testing.M) {
	if folder := os.Getenv(asEngine); folder != "" {
		runUntilKilled(folder)
	}
	sizetest.SideBySide()
	goleak.VerifyTestMain(m)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// bench is a run for tests: a session, parameters and a folder.
type bench struct {
	session *Session
	params  map[string]any
	environ []string
	dir     string
	temp    string
	confine confinement.Confinement

	mu      sync.Mutex
	notices []notice.Notice
}

var _ Frame = (*bench)(nil)

func (b *bench) Confinement() confinement.Confinement { return b.confine }
func (b *bench) Session() *Session                    { return b.session }
func (b *bench) Scope(dag.View) expr.Scope            { return b }
func (b *bench) Environ() []string                    { return b.environ }
func (b *bench) Dir() string                          { return b.dir }
func (b *bench) Resolve(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(cmp.Or(base, b.dir), path)
}
func (b *bench) Temp() string             { return b.temp }
func (b *bench) Secret(key string) string { return "secret of " + key }

func (b *bench) Symbol(id string) expr.Symbol {
	if _, ok := b.params[id]; ok {
		return expr.Symbol{Class: expr.Parameter, Type: "string"}
	}
	return expr.Symbol{}
}

func (b *bench) Lookup(r expr.Ref) (expr.Value, error) {
	return expr.Value{V: b.params[r.Root], Caller: true}, nil
}

func open(t testing.TB, o Options, params map[string]any) *bench {
	t.Helper()
	if o.Run == "" {
		o.Run = fmt.Sprintf("test-%d-%s", os.Getpid(), t.Name())
	}
	b := &bench{}
	if o.Notify == nil {
		o.Notify = b.notify
	}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	b.session, b.params = s, params
	return b
}

// close returns the notices that closing makes.
func (b *bench) close(t testing.TB) []notice.Notice {
	t.Helper()
	before := len(b.noticed())
	if err := b.session.Close(context.Background()); err != nil {
		t.Error(err)
	}
	return b.noticed()[before:]
}

func (b *bench) notify(n notice.Notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notices = append(b.notices, n)
}

func (b *bench) noticed() []notice.Notice {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.notices)
}

func (b *bench) parse(t testing.TB, src string, sh expr.Shell) *expr.Template {
	t.Helper()
	tpl, problems := expr.ParseTemplate(src, sh, b)
	for _, p := range problems {
		if !p.Warning {
			t.Fatalf("%s: %s", src, p.Message)
		}
	}
	return tpl
}

// bash, sh and argv are commands of the three kinds.
func (b *bench) bash(t testing.TB, src string) *Command {
	return &Command{Template: b.parse(t, src, expr.Bash), Shell: "bash"}
}
func (b *bench) sh(t testing.TB, src string) *Command {
	return &Command{Template: b.parse(t, src, expr.Sh), Shell: "sh"}
}
func (b *bench) argv(t testing.TB, src string) *Command {
	return &Command{Template: b.parse(t, src, expr.Argv)}
}
func (b *bench) text(t testing.TB, src string) *expr.Template {
	return b.parse(t, src, expr.Plain)
}

// run walks a graph of one step.
func (b *bench) run(t testing.TB, c *Command) dag.Result {
	t.Helper()
	return b.runPolicy(t, context.Background(), c, dag.Policy{})
}

func (b *bench) runPolicy(t testing.TB, ctx context.Context, c *Command, p dag.Policy) dag.Result {
	t.Helper()
	return b.walk(t, ctx, []dag.Node{{ID: "step", Runner: c, Policy: p}})[0]
}

// runAll runs commands side by side. The steps have the names s0, s1 and so on.
func (b *bench) runAll(t testing.TB, commands ...*Command) []dag.Result {
	t.Helper()
	var nodes []dag.Node
	for i, c := range commands {
		nodes = append(nodes, dag.Node{ID: dag.ID(fmt.Sprint("s", i)), Runner: c})
	}
	return b.walk(t, context.Background(), nodes)
}

// walk runs steps and returns their results.
func (b *bench) walk(t testing.TB, ctx context.Context, nodes []dag.Node) []dag.Result {
	t.Helper()
	g, err := dag.New(nodes, dag.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	results := make([]dag.Result, len(nodes))
	_, err = dag.Run(ctx, g, b, dag.Options{Slots: dag.NewSlots(len(nodes)), Sinks: []dag.Sink{dag.SinkFunc(func(e dag.Event) {
		if e.Kind == dag.StepFinished {
			results[slices.IndexFunc(nodes, func(n dag.Node) bool { return n.ID == e.Node })] = *e.Result
		}
	})}})
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func stdout(r dag.Result) string {
	if r.Stdout == nil {
		return ""
	}
	return r.Stdout.Raw
}

func stderr(r dag.Result) string {
	if r.Stderr == nil {
		return ""
	}
	return r.Stderr.Raw
}

func TestCommand(t *testing.T) {
	big := strings.Repeat("x", 200<<10) + "'\n"
	b := open(t, Options{}, map[string]any{"P": "it's $HOME; `id`\n", "BIG": big, "SHORT": "b"})
	defer b.close(t)
	b.dir = t.TempDir()
	sub := filepath.Join(b.dir, "sub")
	os.Mkdir(sub, 0o755)
	t.Setenv("BASH_ENV", "/no/such")
	for _, c := range []struct {
		name string
		cmd  *Command
		code int
		out  string
	}{
		{"bash", b.bash(t, `echo "a b"`), 0, "a b\n"},
		{"value", b.bash(t, `printf %s {P}`), 0, "it's $HOME; `id`\n"},
		{"value in sh", b.sh(t, `printf %s "{P}"`), 0, "it's $HOME; `id`\n"},
		{"value in argv", b.argv(t, `printf %s {P}`), 0, "it's $HOME; `id`\n"},
		{"large value", b.bash(t, `printf %s {BIG} | wc -c`), 0, fmt.Sprintln(len(big))},
		{"large value in sh", b.sh(t, `printf %s {BIG} | wc -c`), 0, fmt.Sprintln(len(big))},
		{"large values keep line numbers", b.bash(t, ": {BIG}\necho $LINENO"), 0, "2\n"},
		{"long script", b.bash(t, ":"+strings.Repeat(" x", 100<<10)+"\necho $LINENO"), 0, "2\n"},
		{"exit code", b.argv(t, `sh -c 'exit 9'`), 9, ""},
		{"not strict", b.bash(t, "false; echo on"), 0, "on\n"},
		{"own folder", &Command{Template: b.parse(t, "pwd", expr.Argv), Dir: b.text(t, "su{SHORT}")}, 0, sub + "\n"},
		{"frame's folder", b.argv(t, "sh -c 'echo $PWD'"), 0, b.dir + "\n"},
		{"input", &Command{Template: b.parse(t, "wc -c", expr.Argv), Input: b.text(t, "{BIG}")}, 0, fmt.Sprintln(len(big))},
		{"no input", b.argv(t, "cat"), 0, ""},
		{"environment", &Command{Template: b.parse(t, `echo $A-$B`, expr.Bash), Shell: "bash", Env: []EnvVar{{"A", b.text(t, "{SHORT}")}, {"B", b.text(t, "2")}}}, 0, "b-2\n"},
		{"no inheritance", &Command{Template: b.parse(t, `env`, expr.Argv), NoInherit: true}, 0,
			"PATH=" + defaultPath + "\nFLOWRUN_RUN=" + b.session.options.Run + "\nFLOWRUN_STEP=step\nFLOWRUN_OWNER=" + b.session.options.Run + ".1\nFLOWRUN_ATTEMPT=1\nFLOWRUN_IDEMPOTENCY_KEY=" + b.session.options.Run + "/step\nPWD=" + b.dir + "\n"},
		{"BASH_ENV is not inherited by shells", b.bash(t, `echo "[$BASH_ENV]"`), 0, "[]\n"},
		{"stderr opened again", b.bash(t, `echo 1 >&2; echo 2 >/dev/stderr; echo 3 >&2; echo out; echo again >/dev/stdout`), 0, "out\nagain\n"},
		{"other interpreter", &Command{Template: b.parse(t, "print 6*7", expr.Plain), Shell: "perl"}, 0, "42"},
	} {
		r := b.run(t, c.cmd)
		if r.ExitCode != c.code || stdout(r) != c.out {
			t.Errorf("%s: exit %d, %.200q, stderr %.200q; want %d, %.200q; %s", c.name, r.ExitCode, stdout(r), stderr(r), c.code, c.out, r.Message)
		}
	}
	if r := b.run(t, b.bash(t, `echo 1 >&2; echo 2 >/dev/stderr; echo 3 >&2`)); stderr(r) != "1\n2\n3\n" {
		t.Errorf("stderr opened again: %q", stderr(r))
	}
}

func TestStrict(t *testing.T) {
	b := open(t, Options{}, nil)
	defer b.close(t)
	for _, c := range []struct {
		shell  string
		sh     expr.Shell
		script string
		code   int
	}{
		{"bash", expr.Bash, "false; echo on", 1},
		{"bash", expr.Bash, "false | true; echo on", 1},
		{"bash", expr.Bash, "echo $NO_SUCH_VARIABLE; echo on", 1},
		{"dash", expr.Sh, "false; echo on", 1},
		{"dash", expr.Sh, "false | true", 0},
	} {
		r := b.run(t, &Command{Template: b.parse(t, c.script, c.sh), Shell: c.shell, Strict: true})
		if (r.ExitCode != 0) != (c.code != 0) || strings.Contains(stdout(r), "on") {
			t.Errorf("%s: %s: exit %d, %q", c.shell, c.script, r.ExitCode, stdout(r))
		}
	}
}

func TestStartFails(t *testing.T) {
	b := open(t, Options{}, map[string]any{"P": "-x", "EMPTY": "", "BIG": strings.Repeat("x", 3<<20)})
	defer b.close(t)
	dir := t.TempDir()
	noExec := filepath.Join(dir, "noexec")
	os.WriteFile(noExec, []byte("#!/bin/sh\n"), 0o644)
	noProgram := filepath.Join(dir, "noprogram")
	os.WriteFile(noProgram, []byte("echo\n"), 0o755)
	noInterpreter := filepath.Join(dir, "nointerpreter")
	os.WriteFile(noInterpreter, []byte("#!/no/such\n"), 0o755)
	for _, c := range []struct {
		name   string
		cmd    *Command
		code   int
		reason string
		says   string
	}{
		{"not found", b.argv(t, "no-such-program"), 127, ReasonStartFailed, `"no-such-program": not found in PATH; install it, or write its full path`},
		{"no file", b.argv(t, "/no/such"), 127, ReasonStartFailed, `/no/such does not exist`},
		{"no shell", &Command{Template: b.parse(t, "x", expr.Sh), Shell: "mksh"}, 127, ReasonStartFailed, `"mksh"`},
		{"empty", b.argv(t, "{EMPTY}"), 127, ReasonStartFailed, "empty"},
		{"not executable", b.argv(t, noExec), 126, ReasonStartFailed, "chmod +x"},
		{"no program", b.argv(t, noProgram), 126, ReasonStartFailed, "#!/bin/sh"},
		{"no interpreter", b.argv(t, noInterpreter), 127, ReasonStartFailed, "interpreter"},
		{"folder", b.argv(t, dir), 126, ReasonStartFailed, "you may not execute"},
		{"no folder", &Command{Template: b.parse(t, "true", expr.Argv), Dir: b.text(t, dir+"/no")}, 127, ReasonStartFailed, `working directory "` + dir + `/no" does not exist`},
		{"too long", b.argv(t, "echo {BIG}"), 126, ReasonStartFailed, "through input or a file"},
		{"dash", b.argv(t, "echo {P}"), 1, dag.ReasonInput, `"-x"`},
	} {
		r := b.run(t, c.cmd)
		if r.Status != dag.Failed || r.ExitCode != c.code || r.Reason != c.reason || !strings.Contains(r.Message, c.says) {
			t.Errorf("%s: %v %d %s: %.300s", c.name, r.Status, r.ExitCode, r.Reason, r.Message)
		}
	}
}

// Values that fit singly but not together with the environment go by file.
func TestEnvironmentFull(t *testing.T) {
	params := map[string]any{}
	script := "echo ${#V}"
	env := []string{"V=v"}
	for i := range 5 {
		params[fmt.Sprint("P", i)] = strings.Repeat("y", 90<<10)
		script += fmt.Sprintf("; x={P%d}; echo ${#x}", i)
	}
	for i := range 16 {
		env = append(env, fmt.Sprintf("FILL%d=%s", i, strings.Repeat("z", 100<<10)))
	}
	b := open(t, Options{Env: append(os.Environ(), env...)}, params)
	defer b.close(t)
	if r := b.run(t, b.bash(t, script)); r.ExitCode != 0 || strings.Count(stdout(r), fmt.Sprintln(90<<10)) != 5 {
		t.Errorf("%d %q %s", r.ExitCode, stdout(r), r.Message)
	}
}

func TestOutput(t *testing.T) {
	dir := t.TempDir()
	b := open(t, Options{LogDir: dir}, nil)
	secret := open(t, Options{}, nil) // goes through a pipe
	if err := secret.session.Mask().Add("never-printed"); err != nil {
		t.Fatal(err)
	}
	for _, b := range []*bench{b, secret} {
		for _, c := range []struct {
			name      string
			script    string
			limit     int64
			want      string
			size      int64
			truncated bool
		}{
			{"nothing", "true", 10, "", 0, false},
			{"below", "printf 123456789", 10, "123456789", 9, false},
			{"at the limit", "printf 1234567890", 10, "1234567890", 10, false},
			{"above", "printf 1234567890A", 10, "1234567890", 11, true},
			{"character cut", `printf '12345678\342\202\254'`, 10, "12345678", 11, true},
			{"character at the border", `printf '1234567\342\202\254x'`, 10, "1234567€", 11, true},
			{"invalid", `printf '12345678\377\376\375'`, 10, "12345678\xff\xfe", 11, true},
			{"binary", `printf 'a\000b'`, 10, "a\x00b", 3, false},
			{"large", "head -c 100000 /dev/zero", 50000, strings.Repeat("\x00", 50000), 100000, true},
		} {
			cmd := b.bash(t, c.script)
			cmd.Limit, cmd.Keep = c.limit, Stdout
			r := b.run(t, cmd)
			if r.ExitCode != 0 || stdout(r) != c.want {
				t.Errorf("%s: exit %d, %.40q, want %.40q", c.name, r.ExitCode, stdout(r), c.want)
			}
			if r.Stdout == nil {
				if c.size > 0 {
					t.Errorf("%s: no output", c.name)
				}
				continue
			}
			if r.Stdout.Size != c.size || r.Stdout.Truncated != c.truncated || len(r.Stdout.Inline) > dag.InlineLimit {
				t.Errorf("%s: size %d, truncated %t, inline %d", c.name, r.Stdout.Size, r.Stdout.Truncated, len(r.Stdout.Inline))
			}
			if f := r.Stdout.File; f != "" {
				if info, err := os.Stat(f); err != nil || info.Size() != c.size || info.Mode().Perm() != 0o600 {
					t.Errorf("%s: %v %v", c.name, info, err)
				}
			} else if b.session.options.LogDir != "" || c.size > dag.InlineLimit {
				t.Errorf("%s: no file", c.name)
			}
		}
		cmd := b.bash(t, "printf 12345678901")
		cmd.Limit, cmd.NoTruncation = 10, true
		if r := b.run(t, cmd); r.Reason != ReasonOutputTooLarge || r.Status != dag.Failed || !strings.Contains(r.Message, "buffer-limit") {
			t.Errorf("too large: %+v", r)
		}
	}
	b.close(t)
	private := secret.session.private
	secret.close(t)
	if _, err := os.Stat(private); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the private folder is left: %v", err)
	}
	files, _ := filepath.Glob(dir + "/*")
	if len(files) != 9 { // one for each test that printed
		t.Errorf("%d log files: %q", len(files), files)
	}
}

func TestRawIsShortUnlessMentioned(t *testing.T) {
	b := open(t, Options{}, nil)
	defer b.close(t)
	r := b.run(t, b.bash(t, "head -c 100000 /dev/zero"))
	if len(r.Stdout.Raw) != dag.InlineLimit || r.Stdout.Truncated {
		t.Errorf("%d bytes, truncated %t", len(r.Stdout.Raw), r.Stdout.Truncated)
	}
}
