package enginetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/library"
)

// sharer is a step that writes into a folder that other steps write into, too. Which files it writes follows from the
// names of its inputs.
type sharer struct {
	name     string
	how      string // see writers
	in, out  string // folders
	ext      string // of its files, which another step may have, too
	outputs  string
	cached   bool
	parallel bool
	loop     bool // over its inputs, one item after the other or all at once
	atOnce   bool
}

// writers are the ways in which steps write. IN is the list of the inputs, or the one of an item.
var writers = map[string]string{
	"writes":      `for f in IN; do cat "$f" "$f" > OUT/$(basename "$f").EXT; done`,
	"links":       `for f in IN; do ln -sf $(basename "$f").EXT OUT/$(basename "$f").EXT.link; cat "$f" > OUT/$(basename "$f").EXT; done`,
	"cleans":      `rm -f OUT/*.EXT; for f in IN; do cat "$f" > OUT/$(basename "$f").EXT; done`,
	"is lazy":     `for f in IN; do cmp -s "$f" OUT/$(basename "$f").EXT || cat "$f" > OUT/$(basename "$f").EXT; done`,
	"moves":       `for f in IN; do cat "$f" > OUT/.NAME-$(basename "$f"); mv OUT/.NAME-$(basename "$f") OUT/$(basename "$f").EXT; done`,
	"same":        `for f in IN; do echo same > OUT/$(basename "$f").EXT; done`,
	"keeps times": `for f in IN; do cp -p "$f" OUT/$(basename "$f").EXT; done`,
}

// alone are the ways in which a step may write while others do: it touches files of its own only.
var alone = []string{"writes", "links", "moves", "is lazy", "same", "keeps times"}

func (s *sharer) yaml() string {
	in := s.in + "/*"
	if s.loop {
		in = "{item}"
	}
	text := strings.NewReplacer("IN", in, "OUT", s.out, "EXT", s.ext, "NAME", s.name).Replace(writers[s.how])
	var b strings.Builder
	line := func(format string, values ...any) { fmt.Fprintf(&b, "    "+format+"\n", values...) }
	fmt.Fprintf(&b, "  - name: %s\n", s.name)
	if s.parallel {
		line("parallel: true")
	}
	line("sh: |\n      if grep -qs bad %s; then exit 3; fi\n      mkdir -p %s; echo %s >> ../ran\n      %s", in, s.out, s.name, text)
	if s.loop {
		line("for-each: {items: '{%s-list.output}', max-parallel: %d}", s.name, map[bool]int{true: 4, false: 1}[s.atOnce])
	}
	if s.cached {
		line("cache: {inputs: ['%s'], outputs: ['%s']}", strings.Replace(in, "/*", "/", 1), s.outputs)
	}
	if !s.loop {
		return b.String()
	}
	return fmt.Sprintf("  - {name: %s-list, sh: 'ls %s/*'}\n", s.name, s.in) + b.String()
}

// twin is one tool in two folders: with a cache, and without.
type twin struct {
	*testing.T
	random *rand.Rand
	log    strings.Builder
	folder map[string]*keptRuns
	steps  []*sharer
	reused int
}

func newTwin(t *testing.T, random *rand.Rand) *twin {
	w := &twin{T: t, random: random, folder: map[string]*keptRuns{}}
	for _, kind := range []string{"cached", "plain"} {
		dir := filepath.Join(t.TempDir(), "work")
		h := &keptRuns{bed: &bed{T: t, dir: dir, world: world(dir), lib: library.New(library.Config{WorkingDirectory: dir, Home: dir})}, memory: history.NewMemory()}
		h.config.Store, h.config.StateDir = h.memory, filepath.Join(t.TempDir(), "state")
		if kind == "plain" {
			h.config.CacheDir = engine.NoCache
		}
		w.folder[kind] = h
	}
	w.sh("mkdir -p in1 in2; echo a > in1/a; echo b > in1/b; echo b > in2/b; echo c > in2/c")
	w.draw()
	return w
}

func (w *twin) one(of ...string) string { return of[w.random.IntN(len(of))] }
func (w *twin) often(of int) bool       { return w.random.IntN(of) == 0 }

// draw draws the steps. Steps that work at the same time have files of their own: otherwise the files would depend on
// which is the faster, also without a cache.
func (w *twin) draw() {
	for i := range 2 + w.random.IntN(5) {
		s := &sharer{name: fmt.Sprintf("s%d", i), in: w.one("in1", "in2"), out: w.one("out", "out", "lib"), cached: !w.often(6), parallel: w.often(3), loop: w.often(4), atOnce: w.often(2)}
		s.ext = w.one("x", "y", s.name)
		s.how = w.one(slices.Sorted(maps.Keys(writers))...)
		if s.parallel || s.loop {
			s.how = w.one(alone...)
		}
		if s.how == "cleans" || s.how == "is lazy" { // what it does depends on the files with its ending that it finds
			s.ext = s.name
		}
		if s.parallel {
			s.ext = s.name
			for j := i - 1; j >= 0 && (j == i-1 || w.steps[j+1].parallel); j-- { // those beside which it runs
				w.steps[j].how, w.steps[j].ext = w.one(alone...), w.steps[j].name
			}
		}
		w.steps = append(w.steps, s)
	}
	for _, s := range w.steps {
		s.outputs = w.one(s.out+"/", s.out+"/", s.out+"/**", s.out+"/*."+s.ext+"*")
	}
}

// sh changes both folders.
func (w *twin) sh(script string) {
	fmt.Fprintf(&w.log, "$ %s\n", script)
	for _, h := range w.folder {
		if err := os.MkdirAll(h.dir, 0o755); err != nil {
			w.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir = h.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			w.Fatalf("%s: %v: %s", script, err, out)
		}
	}
}

// edit changes what a person would change between two runs.
func (w *twin) edit() {
	in, name, out := w.one("in1", "in2"), w.one("a", "b", "c", "d"), w.one("out", "lib")
	switch w.random.IntN(9) {
	case 0, 1:
		w.sh(fmt.Sprintf("echo %s > %s/%s", w.one("1", "2", "3"), in, name))
	case 2:
		w.sh(fmt.Sprintf("rm -f %s/%s", in, name))
	case 3:
		w.sh(fmt.Sprintf("test ! -f %[1]s/%[2]s || mv %[1]s/%[2]s %[1]s/%[3]s", in, name, w.one("e", "f", "0")))
	case 4:
		w.sh("rm -rf " + out)
	case 5:
		w.sh(fmt.Sprintf("rm -f %s/%s*", out, name))
	case 6:
		w.sh(fmt.Sprintf("test ! -d %[1]s || echo mine > %[1]s/mine", out))
	case 7:
		w.sh(fmt.Sprintf("for f in %s/*.x; do test ! -f $f || echo edited > $f; done", out))
	case 8:
		w.sh(fmt.Sprintf("echo bad > %s/%s", in, name))
	}
	w.sh("test -n \"$(ls in1)\" || echo a > in1/a; test -n \"$(ls in2)\" || echo a > in2/a")
}

// run runs the tool in both folders, or carries its last run on.
func (w *twin) run(how string) {
	text := "steps:\n"
	for _, s := range w.steps {
		text += s.yaml()
	}
	fmt.Fprintf(&w.log, "%s\n", how)
	results := map[string]*runresult.Result{}
	for kind, h := range w.folder {
		eng := engine.New(h.config)
		var res *runresult.Result
		var err error
		var g *engine.Continuation
		switch how {
		case "run":
			res, err = eng.Run(context.Background(), h.compile(text), nil, engine.WithRunEnv(h.world))
		case "resume":
			g, err = h.latest().Resume(h.lib, engine.ResumeOptions{})
		case "retry":
			g, err = h.latest().Retry(h.lib, engine.RetryOptions{})
		}
		if err == nil && g != nil {
			res, err = eng.Continue(context.Background(), g)
		}
		if err != nil {
			w.Fatalf("%s, %s: %v\n%s\n%s", kind, how, err, text, w.log.String())
		}
		results[kind] = res
	}
	if diff := cmp.Diff(outcomes(results["plain"]), outcomes(results["cached"])); diff != "" {
		w.Fatalf("the steps (-without the cache +with it):\n%s\n%s\n%s", diff, text, w.log.String())
	}
	if diff := cmp.Diff(w.files("plain"), w.files("cached")); diff != "" {
		w.Fatalf("the files (-without the cache +with it):\n%s\n%s\n%s", diff, text, w.log.String())
	}
	for _, s := range results["cached"].Steps {
		if s.Status == dag.Reused && s.Reason == "cache" {
			w.reused++
		}
	}
	if results["plain"].Status == dag.Failed && how == "run" {
		if w.often(2) {
			w.sh("for d in in1 in2; do for f in $d/*; do ! grep -qs bad $f || echo good > $f; done; done")
		}
		w.run(w.one("resume", "retry"))
	}
}

func outcomes(res *runresult.Result) (list []string) {
	for _, s := range res.Steps {
		status := s.Status
		if status == dag.Reused {
			status = dag.Succeeded
		}
		list = append(list, fmt.Sprintf("%s: %s", s.ID, status))
	}
	return append(list, res.Status.String())
}

// files are the files of a folder, with their modes.
func (w *twin) files(kind string) map[string]string {
	dir, found := w.folder[kind].dir, map[string]string{}
	for _, root := range []string{"in1", "in2", "out", "lib"} {
		err := filepath.WalkDir(filepath.Join(dir, root), func(path string, d os.DirEntry, err error) error {
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			info, err := os.Lstat(path)
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(dir, path)
			target, _ := os.Readlink(path)
			text, _ := os.ReadFile(path) // a folder has none
			found[rel] = fmt.Sprintf("%v %s %q", info.Mode(), target, text)
			return nil
		})
		if err != nil {
			w.Fatal(err)
		}
	}
	return found
}

// TestSharedFilesLikeNoCache checks that random steps that share folders leave the files that they leave without a cache,
// whatever happens to their inputs and outputs between runs, also when a run failed and is resumed or retried.
func TestSharedFilesLikeNoCache(t *testing.T) {
	t.Parallel()
	seed, reused := sizetest.Seed(t), 0
	for i := range sizetest.Of(4, 40, 600) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w := newTwin(t, rand.New(rand.NewPCG(seed, uint64(i))))
			for range 3 + w.random.IntN(6) {
				w.run("run")
				for range w.random.IntN(3) {
					w.edit()
				}
			}
			reused += w.reused
		})
	}
	if reused == 0 {
		t.Error("nothing is proved: no step was reused")
	}
	t.Log(reused, "steps were reused")
}
