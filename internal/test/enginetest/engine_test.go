package enginetest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"github.com/flowrun/flowrun/library"
)

// Under the race detector a program takes a second to exit, and each run would
// wait for that of its helper.
func init() { os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) }

// bed is where a test runs its tools: a folder, the library that finds tools in
// it, and an engine.
type bed struct {
	*testing.T
	dir    string
	lib    *library.Library
	config engine.Config
	world  engine.RunEnv
}

func newBed(t *testing.T) *bed {
	dir := t.TempDir()
	return &bed{T: t, dir: dir, world: world(dir), config: engine.Config{Grace: time.Second},
		lib: library.New(library.Config{WorkingDirectory: dir, Home: dir})}
}

// define adds a tool that others can use by its name.
func (b *bed) define(def *tool.Definition) {
	b.Helper()
	if err := b.lib.Add(def); err != nil {
		b.Fatal(err)
	}
}

// file writes a file, where use-tool finds tools: beside the one under test.
func (b *bed) file(name, text string) string {
	b.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

func (b *bed) compile(text string) *engine.Plan {
	b.Helper()
	p, err := engine.Compile(b.lib, b.file("under-test.yaml", "name: under-test\ndescription: Under test\n"+text))
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// run runs a definition, and holds the run against its preview.
func (b *bed) run(ctx context.Context, text string, params map[string]any, options ...engine.RunOption) *runresult.Result {
	b.Helper()
	p := b.compile(text)
	res, err := engine.New(b.config).Run(ctx, p, params, append(options, engine.WithRunEnv(b.world))...)
	if err != nil {
		b.Fatal(err)
	}
	b.foreseen(p, params, res)
	return res
}

// foreseen checks that the preview of a run names its steps in their order, and
// knew of no condition what turned out otherwise.
func (b *bed) foreseen(p *engine.Plan, params map[string]any, res *runresult.Result) {
	b.Helper()
	v, err := p.Preview(b.world, params)
	if err != nil {
		b.Fatal("preview:", err)
	}
	at := 0
	for _, s := range res.Steps {
		if strings.ContainsAny(s.ID, "@[") {
			continue // a cleanup that did not go well is reported, but is not a step; items are not known before
		}
		i := slices.IndexFunc(v.Steps[at:], func(ps preview.PreviewStep) bool { return ps.ID == s.ID })
		if i < 0 {
			b.Errorf("the preview has no step %s at its place", s.ID)
			continue
		}
		at += i + 1
		ps := v.Steps[at-1]
		byCondition := s.Status == dag.Skipped && s.Reason == dag.ReasonCondition
		if ps.Condition != "" && (ps.Verdict == expr.True && byCondition || ps.Verdict == expr.False && s.Status.Executed()) {
			b.Errorf("step %s: %s, the preview said its condition is %s", s.ID, s.Status, ps.Verdict)
		}
	}
}

// states are the end states of a run's steps.
func states(res *runresult.Result) map[string]string {
	m := map[string]string{}
	for _, s := range res.Steps {
		m[s.ID] = s.Status.String()
	}
	return m
}

func (b *bed) want(res *runresult.Result, status dag.Status, want map[string]string) {
	b.Helper()
	if res.Status != status {
		b.Errorf("the run %s, want %s: %s", res.Status, status, res.Message)
	}
	if diff := cmp.Diff(want, states(res)); diff != "" {
		b.Errorf("states (-want +got):\n%s", diff)
	}
}

// files are the paths below a folder.
func files(t testing.TB, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if path != dir {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// cancelAt is a sink that calls cancel when a step starts.
func cancelAt(step dag.ID, cancel func()) engine.RunOption {
	return engine.WithSink(dag.SinkFunc(func(e dag.Event) {
		if e.Kind == dag.StepStarted && e.Node == step {
			cancel()
		}
	}))
}

// waitFor waits for a file, also outside of the test's own goroutine.
func waitFor(t *testing.T, path string) {
	if !waittest.Holds(waittest.Limit, func() bool { _, err := os.Stat(path); return err == nil }) {
		t.Errorf("%s does not exist", path)
	}
}

// The zero Config leaves neither a file nor a goroutine, however a run ends.
func TestZeroConfigLeavesNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	b := newBed(t)
	b.config = engine.Config{}
	b.file("inner.yaml", "name: inner\ndescription: Inner\nbash: seq 10000\nfile-paths: {temp-directory: '{TEMP}'}\n")
	text := `
parameters: {BIG: {description: a large value}}
environment: {variables: {KEY: a long secret}, secrets: [KEY]}
file-paths: {temp-directory: "{TEMP}"}
steps:
  - name: large
    bash: printf %s {BIG} | wc -c; seq 100000; touch "$FLOWRUN_TEMP/made"
  - name: script
    script: print(open(0).read())
    shell: perl
    input: "{large.output}"
    continue-on-error: true
  - name: inner
    use-tool: inner
  - name: fails
    bash: echo "$KEY" >&2; exit 3
  - name: sleeps
    bash: sleep 300
    run-condition: success() || failure()
`
	b.world.Temp = temp
	for _, how := range []string{"cancelled", "forced"} {
		ctx, cancel := context.WithCancel(context.Background())
		force := make(chan struct{})
		stop := cancel
		if how == "forced" {
			stop = func() { close(force) }
		}
		res := b.run(ctx, text, map[string]any{"BIG": strings.Repeat("x", 1<<20)}, engine.WithForce(force), cancelAt("sleeps", stop))
		cancel()
		if res.Status != dag.Cancelled || res.Step("fails").Status != dag.Failed || res.Step("sleeps").Status != dag.Cancelled {
			t.Errorf("%s: %s %v", how, res.Status, states(res))
		}
		if left := files(t, temp); len(left) > 0 {
			t.Errorf("%s: left behind: %v", how, left)
		}
	}
	if left := files(t, b.dir); len(left) != 2 {
		t.Errorf("left in the workspace: %v", left)
	}
}

// A state directory keeps the logs, for this user only.
func TestStateDir(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.config.StateDir = filepath.Join(b.dir, "state")
	res := b.run(context.Background(), `
steps:
  - name: both
    bash: seq 10000; echo warned >&2
  - name: again
    bash: echo "try $FLOWRUN_ATTEMPT"; [ "$FLOWRUN_ATTEMPT" = 2 ]
    error-handling: {retry: {attempts: 1, delay: 1ms}}
`, nil, engine.WithID("the-run"))
	logs := filepath.Join(b.config.StateDir, "runs", "the-run", "logs")
	if res.ID != "the-run" || filepath.Dir(res.Step("both").StdoutFile) != logs {
		t.Errorf("run %q, log %q", res.ID, res.Step("both").StdoutFile)
	}
	texts := map[string]bool{}
	for _, path := range files(t, b.config.StateDir) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		want := fs.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		} else {
			text, _ := os.ReadFile(path)
			texts[string(text[:min(len(text), 10)])] = true
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s: %v, want %v", path, info.Mode().Perm(), want)
		}
	}
	if diff := cmp.Diff(map[string]bool{"1\n2\n3\n4\n5\n": true, "warned\n": true, "try 1\n": true, "try 2\n": true}, texts); diff != "" {
		t.Errorf("logs (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(res.Step("both").StdoutFile); err != nil || info.Size() != 48894 {
		t.Errorf("%v, %v", info, err)
	}
}

// A secret is in memory for those who refer to it, and nowhere else.
func TestSecretsMasked(t *testing.T) {
	t.Parallel()
	const secret = "hunter2 hunter2"
	b := newBed(t)
	b.config.StateDir = filepath.Join(b.dir, "state")
	b.define(gostep.GoTool{Name: "go", Description: "Tell", Parameters: []*tool.Parameter{
		{Name: "TOKEN", Type: "string", Description: "it"}, {Name: "HOW", Type: "string", Description: "how"}},
		Run: func(_ context.Context, in *gostep.StepInput) (any, error) {
			token := in.Params["TOKEN"].(string)
			switch in.Params["HOW"] {
			case "text":
				return "go " + token, nil
			case "json":
				return map[string]any{"token": token, token: []any{1, token}}, nil
			case "panic":
				panic("panic " + token)
			}
			return nil, fmt.Errorf("refused %s", token)
		}}.Definition())
	b.file("inner.yaml", `
name: inner
description: Tells what it was given
parameters: {TOKEN: {description: it, validation: {maxLength: 20, pattern: "^[^!]*$"}}}
bash: echo "inner {TOKEN}"; echo {TOKEN} >&2
`)
	goStep := func(how string) string {
		return "  - name: go-" + how + "\n    use-tool: go\n    with: {TOKEN: '{KEY}', HOW: " + how + "}\n    continue-on-error: true\n"
	}
	text := `
parameters: {KEY: {description: a key}}
environment: {secrets: [KEY]}
steps:
  - name: show
    bash: echo "it is {KEY}"; printf %s {KEY} | base64 >&2
  - name: knows
    bash: "[ {show.output} = 'it is ` + secret + `' ] && echo knows"
  - name: missing
    run: "/nowhere/{KEY}"
    continue-on-error: true
  - name: condition
    bash: echo
    run-condition: "{show.output} > 5"
    continue-on-error: true
  - name: inner
    use-tool: inner
    with: {TOKEN: "{KEY}"}
  - name: refused
    use-tool: inner
    with: {TOKEN: "{KEY}!"}
    continue-on-error: true
` + goStep("text") + goStep("json") + goStep("panic") + goStep("error") + `
  - name: end
    bash: echo "{go-json.json.token} {inner.output}"
`
	// The definition itself stands for what a caller knows: only what comes out of
	// the run is searched.
	var events, stdout bytes.Buffer
	listen := engine.WithSink(dag.SinkFunc(func(e dag.Event) {
		if err := json.NewEncoder(&events).Encode(e); err != nil {
			t.Error(err)
		}
	}))
	res := b.run(context.Background(), text, map[string]any{"KEY": secret}, listen, engine.WithStdout(&stdout))
	if res.Step("knows").Status != dag.Succeeded || stdout.String() != "*** inner ***\n" {
		t.Errorf("knows: %+v, output %q", res.Step("knows"), &stdout)
	}
	doc, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	preview, err := b.compile(text).Preview(b.world, map[string]any{"KEY": secret})
	if err != nil {
		t.Fatal(err)
	}
	for i := range preview.Steps { // the author's own words are no secret
		if preview.Steps[i].ID == "knows" {
			preview.Steps[i].Command = ""
		}
	}
	shown, _ := json.Marshal(preview)
	out := map[string]string{"events": events.String(), "document": string(doc), "result": fmt.Sprintf("%+v", *res), "preview": string(shown)}
	for _, path := range files(t, b.config.StateDir) {
		text, _ := os.ReadFile(path)
		out[path] = string(text)
	}
	for where, text := range out {
		for _, form := range []string{secret, "hunter2", base64.StdEncoding.EncodeToString([]byte(secret))[:16]} {
			if i := strings.Index(text, form); i >= 0 {
				t.Errorf("%s: ...%s", where, text[max(0, i-150):min(len(text), i+50)])
			}
		}
	}
	for _, step := range []string{"missing", "refused", "go-panic", "go-error"} {
		if s := res.Step(step); s.Status != dag.Failed || !strings.Contains(s.Message+" "+stepMessage(res, step+"/go"), "***") {
			t.Errorf("%s: %+v", step, s)
		}
	}
	b.config.StateDir = ""
	_, err = engine.New(b.config).Run(context.Background(), b.compile("bash: echo {KEY}\nenvironment: {secrets: [KEY]}\n"+
		"parameters: {KEY: {description: a key, validation: {pattern: ^x}}}\n"), map[string]any{"KEY": secret})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a refused secret: %v", err)
	}
}

func stepMessage(res *runresult.Result, path string) string {
	if s := res.Step(path); s != nil {
		return s.Message
	}
	return ""
}

// gate is a writer that makes a file when it has seen a line.
type gate struct {
	bytes.Buffer
	line, file string
}

func (g *gate) Write(p []byte) (int, error) {
	n, err := g.Buffer.Write(p)
	if strings.Contains(g.String(), g.line) {
		err = errors.Join(err, os.WriteFile(g.file, nil, 0o600))
	}
	return n, err
}

// The last step's output is seen while it runs.
func TestStdoutIsLive(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	const waits = `echo first; for i in $(seq 6000); do [ -e seen ] && break; sleep 0.02; done; [ -e seen ] && echo last`
	b.file("inner.yaml", "name: inner\ndescription: Inner\nbash: "+waits+"\n")
	for name, text := range map[string]string{
		"step":   "steps:\n  - name: a\n    bash: echo not this\n  - name: b\n    bash: " + waits + "\n",
		"nested": "steps:\n  - name: a\n    bash: echo not this\n  - name: b\n    use-tool: inner\n",
		"masked": "bash: " + waits + "\nenvironment: {variables: {KEY: a secret}, secrets: [KEY]}\n",
	} {
		out := &gate{line: "first\n", file: filepath.Join(b.dir, "seen")}
		res := b.run(context.Background(), text, nil, engine.WithStdout(out))
		if res.Status != dag.Succeeded || out.String() != "first\nlast\n" || res.Output != "first\nlast\n" {
			t.Errorf("%s: %s, wrote %q, output %q", name, res.Status, out, res.Output)
		}
		os.Remove(out.file)
	}
}

// Whatever gives the output, all of it is written.
func TestStdoutIsWhole(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	const size = 12 << 20
	prints := fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", size)
	for name, text := range map[string]string{
		"live":        "bash: " + prints + "\n",
		"retried":     "bash: " + prints + "\nerror-handling: {retry: {attempts: 1}}\n",
		"not last":    "steps:\n  - name: a\n    bash: " + prints + "\n  - name: b\n    bash: echo no\n    run-condition: failure()\n",
		"by template": "output: '{a.output}'\nsteps:\n  - name: a\n    bash: " + prints + "\n    output: {buffer-limit: 20MB}\n",
		"masked":      "bash: " + prints + "\nenvironment: {variables: {KEY: a secret}, secrets: [KEY]}\n",
	} {
		var out counter
		res := b.run(context.Background(), text, nil, engine.WithStdout(&out))
		if res.Status != dag.Succeeded || out != size || len(res.Output) != dag.InlineLimit {
			t.Errorf("%s: %s, wrote %d bytes, output has %d", name, res.Status, out, len(res.Output))
		}
		if res = b.run(context.Background(), text, nil); name != "by template" && len(res.Output) != steps.DefaultLimit {
			t.Errorf("%s: the result has %d bytes", name, len(res.Output))
		}
	}
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

// A writer that fails neither stops nor hangs a run; where the output had to be
// written after it, Run says so.
func TestBrokenStdout(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for name, text := range map[string]string{
		"live":   "bash: seq 1000000\n",
		"masked": "bash: seq 1000000\nenvironment: {variables: {KEY: a secret}, secrets: [KEY]}\n",
		"after":  "output: '{a.output}'\nsteps:\n  - name: a\n    bash: seq 1000000\n",
	} {
		r, w := io.Pipe()
		r.Close()
		res, err := engine.New(b.config).Run(context.Background(), b.compile(text), nil, engine.WithStdout(w))
		if res == nil || res.Status != dag.Succeeded {
			t.Errorf("%s: %v %+v", name, err, res)
		}
		if (name == "after") != errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// References carry outputs of any size, up to the buffer limit.
func TestLargeReferences(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	large := sizetest.Of(3, 12, 12) // MB
	for _, c := range []struct {
		size  int
		limit string
		seen  int
	}{
		{1 << 20, "10MB", 1 << 20},
		{large * 1e6, fmt.Sprint(large-1, "MB"), (large - 1) * 1e6},
		{large * 1e6, fmt.Sprint(large, "MB"), large * 1e6},
		{1 << 20, "4KB", 4000},
	} {
		res := b.run(context.Background(), fmt.Sprintf(`
steps:
  - name: a
    bash: head -c %d /dev/zero | tr '\0' x
    output: {buffer-limit: %s}
  - name: word
    bash: printf %%s {a.output} | wc -c
  - name: input
    bash: wc -c
    input: "{a.output}"
  - name: condition
    bash: echo yes
    run-condition: "len({a.output}) == %d"
  - name: argument
    run: test -n {a.output}
    continue-on-error: true
`, c.size, c.limit, c.seen), nil)
		for _, step := range []string{"word", "input"} {
			if got := strings.TrimSpace(res.Step(step).Output); got != strconv.Itoa(c.seen) {
				t.Errorf("%d bytes, limit %s: %s saw %s, want %d: %s", c.size, c.limit, step, got, c.seen, res.Step(step).Message)
			}
		}
		if s := res.Step("condition"); s.Output != "yes\n" {
			t.Errorf("%d bytes, limit %s: condition %+v", c.size, c.limit, s)
		}
		if s := res.Step("argument"); c.seen > 1<<18 && (s.Reason != steps.ReasonStartFailed || !strings.Contains(s.Message, "too long")) {
			t.Errorf("an argument of %d bytes: %+v", c.seen, s)
		}
		if s := res.Step("a"); s.Truncated != (c.seen < c.size) {
			t.Errorf("%d bytes, limit %s: truncated %t", c.size, c.limit, s.Truncated)
		}
	}
}

func TestOutputTemplate(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	text := "output: \"{WHO}: {a.output}, {b.exit-code}, {c.output}.\"\nparameters: {WHO: {description: who}}\n" +
		"steps:\n  - name: a\n    bash: echo one\n  - name: b\n    bash: exit 3\n    continue-on-error: true\n  - name: c\n    bash: echo no\n    run-condition: 1 == 2\n"
	if res := b.run(context.Background(), text, map[string]any{"WHO": "me"}); res.Output != "me: one, 3, ." || res.Status != dag.Succeeded {
		t.Errorf("%s %q", res.Status, res.Output)
	}
	res := b.run(context.Background(), "output: '{a.json.x}'\nsteps:\n  - name: a\n    bash: echo no JSON\n", nil)
	if res.Status != dag.Failed || res.ExitCode != 1 || !strings.Contains(res.Message, "not JSON") {
		t.Errorf("%s %d %q", res.Status, res.ExitCode, res.Message)
	}
}

// A value is text to a command and a value to whoever asks for a part of it.
func TestGoValues(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.define(gostep.GoTool{Name: "value", Description: "A value", Run: func(context.Context, *gostep.StepInput) (any, error) {
		return map[string]any{"x": 12345678901234567, "list": []string{"a b", "$(c)"}, "deep": map[string]bool{"ok": true}}, nil
	}}.Definition())
	res := b.run(context.Background(), `
output: "{parts.output}"
steps:
  - name: value
    use-tool: value
  - name: parts
    bash: printf '<%s>' {value.json.x} {value.json.list} {value.json.list[1]} {value.json.deep}
    run-condition: "{value.json.deep.ok} && {value.json.x} > 1000"
  - name: missing
    bash: echo {value.json.nowhere}
`, nil)
	if want := `<12345678901234567><a b><$(c)><$(c)><{"ok":true}>`; res.Output != want {
		t.Errorf("%q, want %q", res.Output, want)
	}
	if s := res.Step("missing"); s.Status != dag.Failed || s.Reason != dag.ReasonInput {
		t.Errorf("%+v", s)
	}
}

// The temporary directory is made for the call and removed after it; cleanup
// commands run however the run ends, and their failure is not the run's.
func TestCleanup(t *testing.T) {
	t.Parallel()
	const text = `
file-paths: {temp-directory: "{TEMP}/own"}
resources:
  cleanup:
    - final-command: ls "$FLOWRUN_TEMP" > cleaned
    - final-command: exit 9
    - final-command: echo again >> cleaned
`
	for name, c := range map[string]struct {
		text   string
		status dag.Status
	}{
		"success": {"bash: touch \"$TMPDIR/made\"; echo ok\n", dag.Succeeded},
		"failure": {"bash: touch \"$TMPDIR/made\"; exit 3\n", dag.Failed},
		"timeout": {"timeout: 300ms\nbash: touch \"$TMPDIR/made\"; sleep 300\n", dag.TimedOut},
		"cancel":  {"steps:\n  - name: one\n    bash: touch \"$FLOWRUN_TEMP/made\"\n  - name: stop-here\n    bash: sleep 300\n", dag.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var res *runresult.Result
			var cleaned string
			for limit := 300 * time.Millisecond; ; limit *= 4 { // until it has come as far as it is to come
				p := b.compile(text + strings.Replace(c.text, "300ms", limit.String(), 1))
				var err error
				if res, err = engine.New(b.config).Run(ctx, p, nil, engine.WithRunEnv(b.world), cancelAt("stop-here", cancel)); err != nil || res.Status != c.status {
					t.Fatalf("%v %+v", err, res)
				}
				got, _ := os.ReadFile(filepath.Join(b.dir, "cleaned"))
				if cleaned = string(got); c.status != dag.TimedOut || cleaned != "again\n" || limit > waittest.Limit {
					break
				}
			}
			if cleaned != "made\nagain\n" {
				t.Errorf("cleanup wrote %q", cleaned)
			}
			if left := files(t, filepath.Join(b.dir, "own")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			i := slices.IndexFunc(res.Steps, func(s runresult.StepResult) bool { return s.ID == "@cleanup" })
			if i < 0 || res.Steps[i].ExitCode != 9 || len(res.Tolerated) > 0 {
				t.Errorf("the failure of the cleanup is not reported: %+v", res.Steps)
			}
			if c.status == dag.Succeeded && res.Output != "ok\n" {
				t.Errorf("output %q", res.Output)
			}
		})
	}
}
