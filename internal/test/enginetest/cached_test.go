package enginetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/engine/resultcache"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// cacheBed is a bed whose engine keeps results.
func cacheBed(t *testing.T) *bed {
	b := newBed(t)
	b.config.StateDir = filepath.Join(t.TempDir(), "state")
	return b
}

// becomes says what a step came to: its status and reason.
func (b *bed) becomes(res *runresult.Result, step, want string) {
	b.Helper()
	s := res.Step(step)
	if s == nil {
		b.Fatalf("no step %s", step)
	}
	if got := strings.TrimSpace(s.Status.String() + " " + s.Reason); got != want {
		b.Errorf("step %s: %s, want %s; %s %v", step, got, want, s.Message, res.Notices)
	}
}

const cachedTool = `
parameters: {P: {description: d, default: value}}
environment: {E: of the tool}
steps:
  - name: first
    bash: echo first
  - name: it
    bash: cat in.txt; echo {P} "$E" "$OWN" "${NAMED-}" > out.txt
    input: some text
    environment: {OWN: of the step}
    cache: {inputs: ["in*.txt"], outputs: [out.txt], env: [NAMED], key: one}
`

// TestCacheKey checks that a step runs again if and only if its key differs, and that a reused step leaves its files. Package
// resultcache has the table of what is in the key.
func TestCacheKey(t *testing.T) {
	t.Parallel()
	replace := func(old, new string) func(*bed, *string, map[string]any) {
		return func(_ *bed, text *string, _ map[string]any) {
			if !strings.Contains(*text, old) {
				t.Fatalf("no %q", old)
			}
			*text = strings.Replace(*text, old, new, 1)
		}
	}
	b := cacheBed(t)
	b.config.CacheDir = filepath.Join(t.TempDir(), "cache")
	b.file("in.txt", "input")
	b.file("in3.txt", "input")
	before := b.run(context.Background(), cachedTool, map[string]any{})
	b.becomes(before, "it", "succeeded")
	made := textOf(t, b.dir+"/out.txt")
	type change = func(*bed, *string, map[string]any)
	nothing := func(*bed, *string, map[string]any) {}
	for what, c := range map[string]struct {
		change change
		runs   bool
	}{
		"nothing":           {nothing, false},
		"an output's time":  {func(b *bed, _ *string, _ map[string]any) { os.Chtimes(b.dir+"/out.txt", time.Time{}, time.Unix(1, 0)) }, false},
		"an output changed": {func(b *bed, _ *string, _ map[string]any) { b.file("out.txt", "x") }, false},
		"the command":       {replace("cat in.txt;", "cat  in.txt;"), true},
	} {
		t.Run(what, func(t *testing.T) {
			bed := *b
			bed.T, bed.config.CacheDir = t, filepath.Join(t.TempDir(), "cache")
			if err := os.CopyFS(bed.config.CacheDir, os.DirFS(b.config.CacheDir)); err != nil {
				t.Fatal(err)
			}
			for _, name := range filesIn(t, b.dir) {
				if strings.HasSuffix(name, ".txt") {
					os.Remove(filepath.Join(b.dir, name))
				}
			}
			for name, text := range map[string]string{"in.txt": "input", "in3.txt": "input", "out.txt": made} {
				b.file(name, text)
			}
			text, params := cachedTool, map[string]any{}
			c.change(&bed, &text, params)
			after := bed.run(context.Background(), text, params)
			if c.runs {
				bed.becomes(after, "it", "succeeded")
				return
			}
			bed.becomes(after, "it", "reused cache")
			if got := textOf(t, b.dir+"/out.txt"); got != made {
				t.Errorf("out.txt is %q, not %q", got, made)
			}
			if was, is := before.Step("it"), after.Step("it"); is.Output != was.Output || is.ExitCode != 0 {
				t.Errorf("%q and %q", was.Output, is.Output)
			}
		})
	}
}

// TestCacheOutput: what a reused step printed is there for references, however much
// it is, with and without a folder for logs.
func TestCacheOutput(t *testing.T) {
	t.Parallel()
	const text = `
steps:
  - name: small
    bash: echo '{"n":[1,2]}'; echo oops >&2
    cache: {}
  - name: large
    bash: head -c 50000 /dev/zero | tr '\0' x; echo
    cache: {}
  - name: silent
    bash: "true"
    cache: {}
  - name: uses
    bash: echo {small.json.n[1]} {small.error} {silent.output}; wc -c
    input: "{large.output}"
`
	for _, state := range []bool{true, false} {
		b := cacheBed(t)
		if !state {
			b.config.StateDir, b.config.CacheDir = "", b.config.StateDir
		}
		first := b.run(context.Background(), text, nil)
		second := b.run(context.Background(), text, nil)
		for _, s := range []string{"small", "large", "silent"} {
			b.becomes(first, s, "succeeded")
			b.becomes(second, s, "reused cache")
		}
		if first.Output != second.Output || !strings.HasPrefix(second.Output, "2 oops \n50000") {
			t.Errorf("%q, then %q", first.Output, second.Output)
		}
		if s := second.Step("small"); s.Error != "oops\n" {
			t.Errorf("stderr is %q", s.Error)
		}
		// As the run's own output it is passed on whole.
		only := b.run(context.Background(), strings.Split(text, "  - name: silent")[0], nil)
		b.becomes(only, "large", "reused cache")
		if len(only.Output) != 50001 {
			t.Errorf("%d bytes of output", len(only.Output))
		}
		var live strings.Builder
		res := b.run(context.Background(), strings.Split(text, "  - name: silent")[0], nil, engine.WithStdout(&live))
		b.becomes(res, "large", "reused cache")
		if live.Len() != 50001 {
			t.Errorf("%d bytes on stdout", live.Len())
		}
	}
}

// TestCacheTries: failed tries are not kept, the try's number does not matter, and a
// second try of what is around a step finds the first one's result.
func TestCacheTries(t *testing.T) {
	t.Parallel()
	b := cacheBed(t)
	text := `
steps:
  - name: it
    bash: test -e done || { touch done; exit 3; }
    cache: {}
    error-handling: {retry: {attempts: 1, delay: 1}}
`
	res := b.run(context.Background(), text, nil)
	b.becomes(res, "it", "succeeded")
	if res.Step("it").Attempts != 2 {
		t.Fatalf("%d tries", res.Step("it").Attempts)
	}
	b.becomes(b.run(context.Background(), text, nil), "it", "reused cache")

	b.file("inner.yaml", "name: inner\ndescription: d\nsteps:\n  - {name: a, bash: 'echo a >> ran', cache: {}}\n  - {name: b, bash: 'test -e twice || { touch twice; exit 1; }'}\n")
	p := b.compile("steps:\n  - name: outer\n    use-tool: ./inner.yaml\n    error-handling: {retry: {attempts: 1, delay: 1}}\n")
	res, err := engine.New(b.config).Run(context.Background(), p, nil, engine.WithRunEnv(b.world))
	if err != nil {
		t.Fatal(err)
	}
	b.becomes(res, "outer#2/a", "reused cache")
	if ran, _ := os.ReadFile(b.dir + "/ran"); string(ran) != "a\n" || res.Status != dag.Succeeded {
		t.Errorf("it ran: %q; %v", ran, res.Status)
	}

	// What a fallback made of a failure is not a result of the step.
	text = "steps:\n  - name: it\n    bash: exit 3\n    cache: {key: fallback}\n    error-handling: {fallback: echo rescued}\n"
	for range 2 {
		b.becomes(b.run(context.Background(), text, nil), "it", "succeeded")
	}
}

func TestCacheTTL(t *testing.T) {
	t.Parallel()
	b := cacheBed(t)
	text := "bash: echo\ncache: {ttl: %s}\n"
	b.run(context.Background(), fmt.Sprintf(text, "1h"), nil)
	b.becomes(b.run(context.Background(), fmt.Sprintf(text, "1h"), nil), "under-test", "reused cache")
	time.Sleep(3 * time.Millisecond)
	p := b.compile(fmt.Sprintf(text, "1ms"))
	x, err := engine.New(b.config).ExplainCache(context.Background(), p, "under-test", nil, b.world)
	if err != nil || x.Verdict != preview.CacheRuns || x.Reasons[0].Kind != "ttl" {
		t.Error(x, err)
	}
	b.becomes(b.run(context.Background(), fmt.Sprintf(text, "1ms"), nil), "under-test", "succeeded")
}

// TestCacheForced: WithoutCache runs the step and keeps what results from it.
func TestCacheForced(t *testing.T) {
	t.Parallel()
	b := cacheBed(t)
	const text = "bash: date +%N > out; cat out\ncache: {outputs: [out]}\n"
	b.run(context.Background(), text, nil)
	forced := b.run(context.Background(), text, nil, engine.WithoutCache())
	b.becomes(forced, "under-test", "succeeded")
	again := b.run(context.Background(), text, nil)
	b.becomes(again, "under-test", "reused cache")
	if again.Output != forced.Output {
		t.Errorf("%q is not what the forced run printed, %q", again.Output, forced.Output)
	}
}

// TestCacheNotices: what cannot be kept says so once, and the step is as good as
// ever.
func TestCacheNotices(t *testing.T) {
	t.Parallel()
	b := cacheBed(t)
	b.file("in.txt", "1")
	b.file("a-file", "")
	for text, want := range map[string]string{
		"bash: echo 2 >> in.txt\ncache: {inputs: [in.txt]}\n":                               "inputs changed while the step ran (input in.txt changed); list the files that the step creates",
		"bash: ':'\ncache: {outputs: [made, 'other/*']}\n":                                  "no file matches made, other/*",
		"bash: head -c 9000 /dev/zero\noutput: ''\ncache: {}\n":                             "",
		"steps: [{name: a, bash: 'echo 12345', output: {buffer-limit: 3}, cache: {}}]\n":    "longer than the step's buffer-limit",
		"bash: ln -s /etc out-link\ncache: {outputs: [out-link]}\n":                         "outside the step",
		"bash: mkfifo pipe\ncache: {outputs: [pipe]}\n":                                     "is not a file, folder or link",
		"environment: {secrets: [NAMED]}\nbash: echo $NAMED\ncache: {}\n":                   "it contains a secret",
		"environment: {secrets: [NAMED]}\nbash: 'touch $NAMED'\ncache: {outputs: [can*]}\n": "it contains a secret",
	} {
		b.world.Env = append(world(b.dir).Env, "NAMED=canary-value")
		res := b.run(context.Background(), text, nil)
		var told []string
		for _, n := range res.Notices {
			told = append(told, string(n.Code)+": "+n.Message)
		}
		switch {
		case res.Status != dag.Succeeded:
			t.Errorf("%s: %v %s", text, res.Status, res.Message)
		case want == "" && len(told) > 0, want != "" && (len(told) != 1 || !strings.Contains(told[0], want) || !strings.HasPrefix(told[0], "not-cached: ")):
			t.Errorf("%s: notices %q, want %q", text, told, want)
		case strings.Contains(fmt.Sprint(told), "canary"):
			t.Errorf("%s: %q", text, told)
		}
	}
	b.config.CacheDir = filepath.Join(b.dir, "a-file")
	res := b.run(context.Background(), "bash: echo\ncache: {}\n", nil)
	if res.Status != dag.Succeeded || len(res.Notices) != 1 || !strings.Contains(res.Notices[0].Message, "cannot use the cache") {
		t.Errorf("%v %v", res.Status, res.Notices)
	}
	b.config.CacheDir = engine.NoCache
	for range 2 {
		b.becomes(b.run(context.Background(), "bash: echo\ncache: {}\n", nil), "under-test", "succeeded")
	}
}

// TestCacheRefused: patterns that lead out, and values that are refused, fail the
// step before it does anything.
func TestCacheRefused(t *testing.T) {
	t.Parallel()
	b := cacheBed(t)
	for text, want := range map[string]string{
		"parameters: {P: {description: d, default: ../x}}\nbash: touch ran\ncache: {outputs: ['{P}']}\n": "it is outside",
		"parameters: {P: {description: d, default: /etc}}\nbash: touch ran\ncache: {outputs: ['{P}']}\n": "it is outside",
		"parameters: {P: {description: d, default: '['}}\nbash: touch ran\ncache: {inputs: ['{P}']}\n":   "a bracket or brace is not closed",
	} {
		res := b.run(context.Background(), text, nil)
		b.becomes(res, "under-test", "failed input")
		if !strings.Contains(res.Step("under-test").Message, want) {
			t.Errorf("%s: %s", text, res.Step("under-test").Message)
		}
	}
	if _, err := os.Stat(b.dir + "/ran"); err == nil {
		t.Error("a refused step ran")
	}
	for _, pattern := range []string{"../x", "..", ".", "a/../../x", "'['", "''"} {
		_, err := engine.Compile(b.lib, b.file("bad.yaml", "name: bad\ndescription: d\nbash: echo\ncache: {outputs: ["+pattern+"]}\n"))
		var ds tool.Diagnostics
		if !errors.As(err, &ds) || ds[0].Code != "bad-pattern" || ds[0].Pos.Line != 4 {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// TestCacheAtOnce: runs of one tool at the same time all end well, with the outputs
// in their place.
func TestCacheAtOnce(t *testing.T) {
	t.Parallel()
	b := cacheBed(t)
	// The file comes to its place whole: what a run keeps may be another one's.
	const text = "bash: mkdir -p out; echo made > made.$$; mv made.$$ out/a; echo printed\ncache: {outputs: [out]}\n"
	p := b.compile(text)
	e := engine.New(b.config)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			res, err := e.Run(context.Background(), p, nil, engine.WithRunEnv(b.world))
			if err != nil || res.Status != dag.Succeeded || res.Output != "printed\n" {
				t.Error(err, res)
			}
		})
	}
	all.Wait()
	os.RemoveAll(b.dir + "/out")
	res := b.run(context.Background(), text, nil)
	b.becomes(res, "under-test", "reused cache")
	if made, _ := os.ReadFile(b.dir + "/out/a"); string(made) != "made\n" {
		t.Errorf("out/a is %q", made)
	}
}

// TestCacheGo: a step written in Go is reused for the same parameters, its value
// included.
func TestCacheGo(t *testing.T) {
	t.Parallel()
	b := cacheBed(t)
	ran := 0
	def := gostep.GoTool{Name: "in-go", Description: "d", Parameters: []*tool.Parameter{{Name: "N", Type: "number"}},
		Run: func(_ context.Context, in *gostep.StepInput) (any, error) {
			ran++
			return map[string]any{"twice": 2 * in.Params["N"].(int64)}, nil
		}}.Definition()
	def.Steps[0].Cache = &tool.Cache{}
	b.define(def)
	text := "steps:\n  - {name: it, use-tool: in-go, with: {N: %d}}\n  - {name: uses, bash: 'echo {it.json.twice}'}\n"
	for i, c := range []struct{ n, ran int }{{4, 1}, {4, 1}, {5, 2}, {4, 2}} {
		res := b.run(context.Background(), fmt.Sprintf(text, c.n), nil)
		if ran != c.ran || res.Output != fmt.Sprintln(2*c.n) {
			t.Errorf("run %d: called %d times, printed %q; %v", i, ran, res.Output, res.Notices)
		}
	}
}

// TestCacheAgain: a reused step counts as settled well. A resume lets it stand, and a
// retry takes it over, as a result of that run.
func TestCacheAgain(t *testing.T) {
	t.Parallel()
	b := cacheBed(t)
	store := history.NewMemory()
	b.config.Store = store
	const text = "steps:\n  - {name: a, bash: echo of a, cache: {}}\n  - {name: b, bash: 'test -e good && echo {a.output}'}\n"
	b.run(context.Background(), text, nil)
	res := b.run(context.Background(), text, nil)
	b.becomes(res, "a", "reused cache")
	b.becomes(res, "b", "failed exit")
	past, err := engine.LoadRun(context.Background(), store, b.lib, res.ID)
	if err != nil {
		t.Fatal(err)
	}
	b.file("good", "")
	retry, err := past.Retry(b.lib, engine.RetryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	resume, err := past.Resume(b.lib, engine.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(b.config)
	for again, want := range map[*engine.Continuation]string{retry: "reused", resume: "reused cache"} {
		res, err := e.Continue(context.Background(), again)
		if err != nil {
			t.Fatal(err)
		}
		b.becomes(res, "a", want)
		if res.Status != dag.Succeeded || res.Output != "of a\n" {
			t.Errorf("%v: %q", res.Status, res.Output)
		}
	}
}

// BenchmarkCacheHit is a run whose one step is reused, with a thousand inputs. It
// reports how that compares with sha256sum over the same files.
func BenchmarkCacheHit(b *testing.B) {
	sum, err := exec.LookPath("sha256sum")
	if err != nil {
		b.Skip("there is no sha256sum to compare with")
	}
	dir := b.TempDir()
	var names []string
	for i := range 1000 {
		name := filepath.Join(dir, fmt.Sprintf("in%03d", i))
		names = append(names, name)
		if err := os.WriteFile(name, []byte(strings.Repeat(fmt.Sprint(i, " "), 4000)), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	p := compile(b, b.TempDir(), "name: t\ndescription: d\nbash: echo made > "+dir+"/out\nworking-directory: "+dir+"\ncache: {inputs: ['in*'], outputs: [out]}\n")
	e := engine.New(engine.Config{StateDir: b.TempDir(), Parallel: 2})
	run := func(want dag.Status) {
		res, err := e.Run(context.Background(), p, nil)
		if err != nil || res.Steps[0].Status != want {
			b.Fatal(err, res.Steps)
		}
	}
	run(dag.Succeeded)
	var plain time.Duration
	for b.Loop() {
		run(dag.Reused)
		b.StopTimer()
		begin := time.Now()
		if err := exec.Command(sum, names...).Run(); err != nil {
			b.Fatal(err)
		}
		plain += time.Since(begin)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(plain), "of-sha256sum")
}

// TestCacheSecretLater: what was printed when it was no secret is not shown once it is
// one.
func TestCacheSecretLater(t *testing.T) {
	t.Parallel()
	b := cacheBed(t)
	const text = "environment: {secrets: [PASS]}\nbash: echo canary-text\ncache: {}\n"
	run := func(secret string) *runresult.Result {
		b.world.Env = append(world(b.dir).Env, "PASS="+secret)
		return b.run(context.Background(), text, nil)
	}
	run("something else")
	b.becomes(run("something new"), "under-test", "reused cache")
	res := run("canary-text")
	b.becomes(res, "under-test", "succeeded")
	if res.Output != "***\n" || strings.Contains(fmt.Sprint(res.Notices), "canary") {
		t.Errorf("%q %v", res.Output, res.Notices)
	}
}

// TestReusedCounts: a reused step counts as one that succeeded, whatever stands around
// it. Each tool runs twice; there is a file "first" in the first run only. What is
// wanted is of the second.
func TestReusedCounts(t *testing.T) {
	t.Parallel()
	const it = "  - {name: it, bash: echo of it, cache: {}}\n"
	for name, c := range map[string]struct {
		text   string
		states string // "it: reused ..."
		failed bool   // the run
		output string // "": not looked at
	}{
		"behind a failure":           {"steps:\n  - {name: a, bash: test -e first}\n" + it, "a: failed, it: skipped", true, ""},
		"behind a skipped step":      {"steps:\n  - {name: a, bash: test -e first}\n  - {name: b, bash: ':'}\n" + it, "a: failed, b: skipped, it: skipped", true, ""},
		"behind a condition":         {"steps:\n  - {name: a, bash: ':', run-condition: 1 > 2}\n" + it, "a: skipped, it: reused", false, "of it\n"},
		"behind a tolerated failure": {"steps:\n  - {name: a, bash: test -e first, continue-on-error: true}\n" + it, "a: failed, it: reused", false, "of it\n"},
		"with always()": {"steps:\n  - {name: a, bash: test -e first}\n  - {name: it, bash: echo of it, cache: {}, run-condition: always()}\n",
			"a: failed, it: reused", true, "of it\n"},
		"with failure()": {"steps:\n  - {name: a, bash: exit 1}\n  - {name: it, bash: echo of it, cache: {}, run-condition: failure()}\n  - {name: b, bash: 'echo {it.output}', wait-for: [it]}\n",
			"a: failed, it: reused, b: succeeded", true, "of it\n"},
		"its own condition comes first": {"steps:\n  - {name: a, bash: 'ls first 2>/dev/null || true'}\n  - {name: it, bash: echo, cache: {}, run-condition: \"{a.output} == 'first'\"}\n",
			"a: succeeded, it: skipped", false, ""},
		"failure() behind it": {"steps:\n" + it + "  - {name: b, bash: ':', run-condition: failure()}\n  - {name: c, bash: ':', run-condition: success()}\n",
			"it: reused, b: skipped, c: succeeded", false, ""},
		"its fields in conditions": {"steps:\n" + it + `  - {name: b, bash: ':', run-condition: "{it.status} == 'reused'"}
  - {name: c, bash: ':', run-condition: "{it.status} == 'succeeded'"}
  - {name: d, bash: ':', run-condition: "{it.attempts} == 1 && {it.exit-code} == 0 && {it.output} == 'of it'"}
  - {name: e, bash: ':', run-condition: "{it.duration} >= 0 && {it.duration} < 60000 && {it.end-time} >= {it.start-time}"}
  - {name: f, bash: 'echo {it.status} {it.attempts} {it.exit-code}'}
`, "it: reused, b: succeeded, c: skipped, d: succeeded, e: succeeded, f: succeeded", false, "reused 1 0\n"},
		"retry and fallback": {"steps:\n  - {name: it, bash: test -e first && echo of it, cache: {}, error-handling: {retry: {attempts: 3, delay: 1}, fallback: echo rescued}}\n",
			"it: reused", false, "of it\n"},
		"continue-on-error": {"steps:\n  - {name: it, bash: test -e first && echo of it, cache: {}, continue-on-error: true}\n", "it: reused", false, "of it\n"},
		"in a loop":         {"steps:\n  - {name: l, for-each: {items: [x, y]}, bash: 'echo {item}', cache: {}}\n", "l: succeeded, l[0]: reused, l[1]: reused", false, "[\"x\",\"y\"]\n"},
		"in a loop with min-success": {"steps:\n  - {name: l, for-each: {items: [x, y, bad], key: '{item}', min-success: 2}, bash: 'test {item} != bad && echo {item}', cache: {}}\n",
			"l: succeeded, l[x]: reused, l[y]: reused, l[bad]: failed", false, ""},
		"too few in a loop": {"steps:\n  - {name: l, for-each: {items: [x, bad, worse], key: '{item}', min-success: 2}, bash: 'test {item} = x', cache: {}}\n",
			"l: failed, l[x]: reused, l[bad]: failed, l[worse]: failed", true, ""},
		"in a group": {"steps:\n  - name: g\n    for-each: {items: [x, y]}\n    steps: [{name: one, bash: 'echo {item}', cache: {}}, {name: two, bash: 'echo {one.output} {one.status}'}]\n",
			"g: succeeded, g[0]: succeeded, g[0]/one: reused, g[0]/two: succeeded, g[1]: succeeded, g[1]/one: reused, g[1]/two: succeeded", false, "[\"x reused\",\"y reused\"]\n"},
		"in a tool": {"steps: [{name: u, use-tool: ./inner.yaml}, {name: b, bash: 'echo {u.output} {u.status}'}]\n", "u: succeeded, u/a: reused, b: succeeded", false, "of inner succeeded\n"},
		"handlers of the step": {"steps:\n  - {name: it, bash: echo of it, cache: {}, on-success: [{name: good, bash: 'echo {it.status}'}], on-failure: [{name: bad, bash: ':'}], finally: [{name: end, bash: ':'}]}\n",
			"it: reused, good: succeeded, bad: skipped, end: succeeded", false, "of it\n"},
		"handlers of the tool": {"steps:\n" + it + "on-success: [{name: good, bash: ':'}]\non-failure: [{name: bad, bash: ':'}]\nfinally: [{name: end, bash: 'echo {run.status}'}]\n",
			"it: reused, good: succeeded, bad: skipped, end: succeeded", false, "of it\n"},
		"handlers that are reused": {"steps:\n  - {name: a, bash: exit 3}\non-failure: [{name: bad, bash: 'echo {run.failed-step} {run.exit-code}', cache: {}}]\nfinally: [{name: end, bash: ':', cache: {}}]\n",
			"a: failed, bad: reused, end: reused", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := cacheBed(t)
			b.file("inner.yaml", "name: inner\ndescription: d\nsteps: [{name: a, bash: echo of inner, cache: {}}]\n")
			b.file("first", "")
			b.run(context.Background(), c.text, nil)
			os.Remove(b.dir + "/first")
			res := b.run(context.Background(), c.text, nil)
			var got []string
			for _, s := range res.Steps {
				got = append(got, s.ID+": "+s.Status.String())
				if s.Status == dag.Reused && (s.Attempts != 1 || s.ExitCode != 0 || s.Reason != resultcache.ReasonCache) {
					t.Errorf("%s: %d tries, exit code %d, reason %q", s.ID, s.Attempts, s.ExitCode, s.Reason)
				}
			}
			if diff := cmp.Diff(c.states, strings.Join(got, ", ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if (res.Status == dag.Failed) != c.failed || c.output != "" && res.Output != c.output {
				t.Errorf("the run %s and printed %q, not %q", res.Status, res.Output, c.output)
			}
			if name == "continue-on-error" && len(res.Tolerated) > 0 {
				t.Errorf("tolerated: %v", res.Tolerated)
			}
		})
	}
}
