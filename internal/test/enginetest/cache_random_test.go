package enginetest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/test/proptest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/library"
)

// pipeStep is one step of a random pipeline. It reads files, values and what earlier
// steps printed, and prints and makes what follows from these alone.
type pipeStep struct {
	number   int
	cached   bool
	constant string   // in its command
	reads    []string // patterns of files
	uses     []string // placeholders in its command: {P}, {s0.output}
	stdin    string   // a placeholder
	env      string   // the value of its variable E; "": it sets none
	named    bool     // the inherited variable V counts
	key      string
	ttl      string
	makes    string // "", "file" or "folder"
	loop     bool   // over the items 0 and 1
	tolerate bool
}

func (s *pipeStep) name() string { return fmt.Sprintf("s%d", s.number) }

// output is what the step makes: a file or a folder; one for each item of a loop.
func (s *pipeStep) output() string {
	if s.loop {
		return fmt.Sprintf("out%d-{item}", s.number)
	}
	return fmt.Sprintf("out%d", s.number)
}

// files is the pattern of the files that the step makes.
func (s *pipeStep) files() string {
	pattern := strings.Replace(s.output(), "{item}", "*", 1)
	if s.makes == "folder" {
		pattern += "/*"
	}
	return pattern
}

// command fails where something it reads is bad. It makes everything anew.
func (s *pipeStep) command() string {
	var b strings.Builder
	fmt.Fprintf(&b, `t=$( (echo %s "$E" %s; for f in %s; do if test -f $f; then set -- "$@" $f; fi; done; echo "$@"; cat "$@" /dev/null; `, s.constant, strings.Join(s.uses, " "), strings.Join(s.reads, " "))
	if s.named {
		b.WriteString(`echo "${V-unset}"; `)
	}
	if s.stdin != "" {
		b.WriteString("cat; ")
	}
	b.WriteString(`true) ); case $t in *bad*) exit 3;; esac; `)
	switch s.makes {
	case "file":
		fmt.Fprintf(&b, `rm -rf %[1]s; echo "$t" >%[1]s; `, s.output())
	case "folder":
		fmt.Fprintf(&b, `rm -rf %[1]s; mkdir %[1]s; echo "$t" >%[1]s/a; echo "$t$t" >%[1]s/b; chmod 700 %[1]s/b; ln -s a %[1]s/c; `, s.output())
	}
	b.WriteString(`echo "$t" | cksum`)
	return b.String()
}

func (s *pipeStep) yaml() string {
	var b strings.Builder
	line := func(format string, values ...any) { fmt.Fprintf(&b, "    "+format+"\n", values...) }
	fmt.Fprintf(&b, "  - name: %s\n", s.name())
	line("sh: %q", s.command())
	if s.loop {
		line(`for-each: {items: ["0", "1"], key: "{item}"}`)
	}
	if s.stdin != "" {
		line("input: %q", s.stdin)
	}
	if s.env != "" {
		line("environment: {E: %q}", s.env)
	}
	if s.tolerate {
		line("continue-on-error: true")
	}
	if !s.cached {
		return b.String()
	}
	line("cache:\n      inputs: %s", list(s.reads))
	if s.makes != "" {
		line("  outputs: %s", list([]string{s.output()}))
	}
	if s.named {
		line("  env: [V]")
	}
	if s.key != "" {
		line("  key: %q", s.key)
	}
	if s.ttl != "" {
		line("  ttl: %s", s.ttl)
	}
	return b.String()
}

func list(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = fmt.Sprintf("%q", t)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// pipeline is a random tool in a folder of its own, and what surrounds it.
type pipeline struct {
	*rapid.T
	dir, state string
	steps      []*pipeStep
	param      string
	env        []string
	runs       int
	known      map[string]bool // what steps have depended on when they succeeded
	reused     *int
}

// drawPipeline draws the steps, and the files they begin with.
func drawPipeline(t *rapid.T, dir string) *pipeline {
	p := &pipeline{T: t, dir: filepath.Join(dir, "work"), state: filepath.Join(dir, "state"), param: "p", known: map[string]bool{}}
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		p.write(fmt.Sprintf("src-%d", i), "one")
	}
	often := func(of int, what string) bool { return rapid.IntRange(1, of).Draw(t, what) == 1 }
	for i := range rapid.IntRange(2, 6).Draw(t, "steps") {
		s := &pipeStep{number: i, cached: !often(8, "uncached"), constant: "c1", loop: often(5, "loop"), tolerate: often(5, "tolerated"), named: often(4, "named"),
			makes: rapid.SampledFrom([]string{"", "file", "file", "folder"}).Draw(t, "makes")}
		s.reads = append(s.reads, rapid.SampledFrom([]string{"src-0", "src-1", "src-[01]", "src-*", "src-{2,9}", "nothing*"}).Draw(t, "reads"))
		if s.reads[0] == "src-{2,9}" { // sh has no braces
			s.reads = []string{"src-2", "src-9"}
		}
		if s.loop && often(2, "own source") {
			s.reads = []string{"src-{item}"}
		}
		for _, up := range p.steps {
			switch rapid.IntRange(1, 4).Draw(t, "edge") {
			case 1:
				if up.makes != "" {
					s.reads = append(s.reads, up.files())
				}
			case 2:
				s.uses = append(s.uses, "{"+up.name()+".output}")
			case 3:
				s.stdin = "{" + up.name() + ".output}"
			}
		}
		if often(3, "uses a parameter") {
			s.uses = append(s.uses, "{P}")
		}
		s.env = rapid.SampledFrom([]string{"", "", "e", "{P}"}).Draw(t, "environment")
		s.key = rapid.SampledFrom([]string{"", "", "k", "{P}"}).Draw(t, "key")
		s.ttl = rapid.SampledFrom([]string{"", "", "1h"}).Draw(t, "ttl")
		p.steps = append(p.steps, s)
	}
	return p
}

func (p *pipeline) path(name string) string { return filepath.Join(p.dir, name) }

func (p *pipeline) write(name, text string) {
	if err := os.WriteFile(p.path(name), []byte(text+"\n"), 0o644); err != nil {
		p.Fatal(err)
	}
}

// edit changes something that may count.
func (p *pipeline) edit() {
	t := p.T
	step := rapid.SampledFrom(p.steps).Draw(t, "of step")
	made := p.path(strings.Replace(step.output(), "{item}", "1", 1))
	inside := made
	if step.makes == "folder" {
		inside = filepath.Join(made, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "inside"))
	}
	source := fmt.Sprintf("src-%d", rapid.IntRange(0, 3).Draw(t, "source"))
	switch what := rapid.IntRange(0, 10).Draw(t, "edit"); what {
	case 0, 1:
		p.write(source, rapid.SampledFrom([]string{"one", "two", "two", "bad"}).Draw(t, "text"))
	case 2:
		os.Remove(p.path(source))
	case 3:
		p.env = rapid.SampledFrom([][]string{nil, {"V="}, {"V=1"}, {"V=2"}}).Draw(t, "V")
	case 4:
		p.param = rapid.SampledFrom([]string{"p", "q"}).Draw(t, "P")
	case 5:
		step.constant = rapid.SampledFrom([]string{"c1", "c2"}).Draw(t, "constant")
	case 6, 7:
		os.RemoveAll(inside)
	case 8:
		os.RemoveAll(made)
	case 9:
		os.Chmod(inside, 0o600)
	case 10: // a link instead
		if os.Remove(inside) == nil {
			os.Symlink(p.path("src-0"), inside)
		}
	}
}

// run runs the pipeline in a folder.
func (p *pipeline) run(dir string, config engine.Config, options ...engine.RunOption) (*runresult.Result, error) {
	plan, err := engine.Compile(library.New(library.Config{WorkingDirectory: dir, Home: dir}), filepath.Join(dir, "pipe.yaml"))
	if err != nil {
		return nil, err
	}
	return engine.New(config).Run(context.Background(), plan, map[string]any{"P": p.param}, append(options, engine.WithRunEnv(world(dir, p.env...)))...)
}

// once runs the pipeline with the cache, and without it in a copy of the folder: what
// the steps print, what happens to them and what they make must be the same.
func (p *pipeline) once(forced bool) {
	p.runs++
	text := "name: pipe\ndescription: d\nparameters: {P: {description: d}}\nsteps:\n"
	for _, s := range p.steps {
		text += s.yaml()
	}
	p.write("pipe.yaml", text)
	plain := fmt.Sprintf("%s-%d", p.dir, p.runs)
	if out, err := exec.Command("cp", "-a", p.dir, plain).CombinedOutput(); err != nil {
		p.Fatalf("%v: %s", err, out)
	}
	var options []engine.RunOption
	if forced {
		options = append(options, engine.WithoutCache())
	}
	var want, got *runresult.Result
	var errs [2]error
	var both sync.WaitGroup
	both.Go(func() { want, errs[0] = p.run(plain, engine.Config{CacheDir: engine.NoCache}) })
	both.Go(func() { got, errs[1] = p.run(p.dir, engine.Config{CacheDir: p.state}, options...) })
	both.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		p.Fatal(err)
	}
	notices := slices.DeleteFunc(got.Notices, func(n notice.Notice) bool { return n.Code == notice.NoInputs })
	if diff := cmp.Diff(ended(want), ended(got)); diff != "" || len(notices) > 0 {
		p.Fatalf("run %d: the steps (-without the cache +with it):\n%s\n%s\n%v", p.runs, diff, text, notices)
	}
	if diff := cmp.Diff(contents(p, plain), contents(p, p.dir)); diff != "" {
		p.Fatalf("run %d: the files (-without the cache +with it):\n%s\n%s", p.runs, diff, text)
	}
	for _, s := range p.steps {
		items := []string{""}
		if s.loop {
			items = []string{"0", "1"}
		}
		for _, item := range items {
			p.judge(s, item, want, got, forced)
		}
	}
}

// judge holds what a step, or one item of it, came to against what it depended on. It
// is reused if and only if it succeeded with the same before.
func (p *pipeline) judge(s *pipeStep, item string, want, got *runresult.Result, forced bool) {
	id := s.name()
	if item != "" {
		id += "[" + item + "]"
	}
	res := got.Step(id)
	if res == nil || !s.cached || res.Status != dag.Succeeded && res.Status != dag.Reused {
		return
	}
	on := p.dependsOn(s, item, want)
	switch reused := res.Status == dag.Reused; {
	case reused && !p.known[on], reused && forced:
		p.Fatalf("run %d: %s is reused, and has not succeeded with this before:\n%s", p.runs, id, on)
	case !reused && p.known[on] && !forced:
		p.Fatalf("run %d: %s runs again, and has succeeded with this before:\n%s", p.runs, id, on)
	case reused:
		*p.reused++
	}
	p.known[on] = true
}

// dependsOn is all that the step's result follows from, by the words of docs/reference/cache.md.
// What others printed is read from the run without the cache.
func (p *pipeline) dependsOn(s *pipeStep, item string, run *runresult.Result) string {
	text := fmt.Sprintf("%s %s %s\n%s\nE=%s key=%s ttl\n", s.name(), item, s.command(), s.stdin, s.env, s.key)
	if strings.Contains(text, "{P}") {
		text += "P=" + p.param + "\n"
	}
	if s.named {
		text += fmt.Sprintln(p.env)
	}
	for _, up := range p.steps[:s.number] {
		if strings.Contains(text, "{"+up.name()+".output}") {
			text += up.name() + " printed " + run.Step(up.name()).Output + "\n"
		}
	}
	for _, pattern := range s.reads {
		matches, err := filepath.Glob(p.path(strings.Replace(pattern, "{item}", item, 1)))
		if err != nil {
			p.Fatal(err)
		}
		for _, file := range matches {
			text += describe(p, file, fs.ModeType|0o111) + "\n"
		}
	}
	return text
}

// ended is what happened to the steps; to be reused is to succeed.
func ended(res *runresult.Result) (list []string) {
	for _, s := range res.Steps {
		status := s.Status
		if status == dag.Reused {
			status = dag.Succeeded
		}
		list = append(list, fmt.Sprintf("%s: %s %d %q", s.ID, status, s.ExitCode, s.Output))
	}
	return append(list, res.Status.String(), res.Output)
}

// contents are the files of a folder, by their names in it.
func contents(p *pipeline, dir string) map[string]string {
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, file); rel != "." {
			found[rel] = strings.TrimPrefix(describe(p, file, fs.ModeType|fs.ModePerm), file)
		}
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
	return found
}

// describe is a file's name, some of its mode, where it leads and what is in it.
func describe(p *pipeline, file string, some fs.FileMode) string {
	info, err := os.Lstat(file)
	if err != nil {
		p.Fatal(err)
	}
	target, _ := os.Readlink(file)
	text, _ := os.ReadFile(file) // a folder has none
	return fmt.Sprintf("%s %v %s %q", file, info.Mode()&some, target, text)
}

// TestCacheLikeNone: whatever is changed between the runs of whatever pipeline, it ends
// as without the cache; and what has not changed does not run.
func TestCacheLikeNone(t *testing.T) {
	t.Parallel()
	// Of the tests that run side by side this is the only one that uses rapid.
	for name, v := range map[string]string{"rapid.checks": sizetest.Of("2", "12", "1000"), "rapid.seed": fmt.Sprint(sizetest.Seed(t))} {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue { // nobody asked for another
			flag.Set(name, v)
			defer flag.Set(name, f.DefValue)
		}
	}
	reused := 0
	proptest.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		p := drawPipeline(rt, dir)
		p.reused = &reused
		for range rapid.IntRange(2, 8).Draw(rt, "runs") {
			p.once(rapid.IntRange(1, 8).Draw(rt, "forced") == 1)
			for range rapid.IntRange(0, 2).Draw(rt, "edits") {
				p.edit()
			}
		}
		os.RemoveAll(dir)
	})
	if reused == 0 {
		t.Error("nothing is proved: no step was reused")
	}
	t.Log(reused, "steps were reused")
}
