package faulttest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// cached has steps whose results are kept: with folders, links and modes, in a loop,
// and with outputs that later steps read. All it makes follows from the texts in its
// files in, src-x and src-y.
var cached = killJob{
	waits: map[string]string{"each": "gen", "sum": "each", "tell": "sum"},
	files: map[string]string{"in": "one", "src-x": "one", "src-y": "one", "job.yaml": `name: NAME
description: Steps whose results are kept.
on-interrupt: retry
steps:
  - name: gen
    sh: 'START; rm -rf out; mkdir -p out/sub; yes "$(cat in)" | head -n 100000 >out/a; cp out/a out/sub/b; chmod 755 out/a; ln -s ../a out/sub/link; echo gen $(cat in); END'
    cache: {inputs: [in], outputs: [out]}
  - name: each
    for-each: {items: [x, y], key: "{item}", max-parallel: 2}
    sh: 'START; cat src-{item} >obj-{item}; echo {item} $(cat src-{item}); END'
    cache: {inputs: ["src-{item}"], outputs: ["obj-{item}"]}
  - name: sum
    sh: 'START; cat obj-x obj-y >sum; echo {gen.output} {each.json[0]} {each.json[1]}; END'
    cache: {inputs: ["obj-*"], outputs: [sum]}
  - {name: tell, sh: 'START; cat sum; head -n 1 out/sub/link; echo {sum.output}; END'}
`}}

// inputs are the files that the cached job reads.
var inputs = []string{"in", "src-x", "src-y"}

// made are what it makes.
var made = []string{"out", "obj-x", "obj-y", "sum"}

// edit writes some other texts into the files of the cached job. Before a run it takes
// away or spoils some of what the one before has made.
func (s *story) edit(r *rand.Rand) {
	s.Helper()
	for _, name := range inputs {
		if r.IntN(4) == 0 {
			s.write(name, []string{"one", "two", "three"}[r.IntN(3)])
		}
	}
	if s.run != "" {
		return
	}
	for _, name := range made {
		switch r.IntN(4) {
		case 0:
			os.RemoveAll(s.path(name))
		case 1:
			if name == "out" {
				name = "out/sub/b"
			}
			os.WriteFile(s.path(name), []byte("spoilt"), 0o644) // or there is no folder for it yet
		}
	}
}

// given are the texts in the files of the job, as a life will find them.
func (s *story) given() map[string]string {
	texts := map[string]string{}
	for _, name := range inputs {
		text, _ := os.ReadFile(s.path(name))
		texts[name] = string(text)
	}
	return texts
}

// reusedRight: what a step printed when it was reused is what its command prints for
// the files of that life and the outputs on record, and a step that was reused does
// not begin again in a later life.
func (s *story) reusedRight() (reused int) {
	s.Helper()
	printed, settled := map[string]string{}, map[string]bool{}
	for _, l := range s.lives {
		for _, e := range s.events[l.before:l.after] {
			step := string(e.Node)
			switch e.Kind {
			case dag.RunResumed:
				for _, back := range e.Reset {
					delete(settled, string(back))
				}
			case dag.StepStarted:
				if settled[step] {
					s.Errorf("life %d begins %s, which was reused", l.number, step)
				}
			case dag.StepFinished:
				if e.Result.Stdout != nil {
					printed[step] = strings.TrimSpace(e.Result.Stdout.Inline)
				}
				if e.Result.Status != dag.Reused {
					continue
				}
				reused++
				settled[step] = true
				want := map[string]string{"gen": "gen " + l.given["in"], "each[x]": "x " + l.given["src-x"], "each[y]": "y " + l.given["src-y"],
					"sum": printed["gen"] + " " + printed["each[x]"] + " " + printed["each[y]"]}[step]
				if printed[step] != want {
					s.Errorf("life %d reuses %s with the output %q, want %q", l.number, step, printed[step], want)
				}
			}
		}
	}
	return reused
}

// next is a story of another run of the same job, in the same folder.
func (s *story) next() *story {
	os.Remove(s.path("traces"))
	return &story{T: s.T, killBed: s.killBed, job: s.job, name: s.name, dir: s.dir, past: s.run}
}

// asUncached runs the job once more, and without the cache in another folder: what it
// makes and prints must be the same, and nothing else may lie there. It answers how
// many steps it reused.
func (s *story) asUncached() int {
	s.Helper()
	plain := s.story(s.T, s.job, s.name)
	for _, name := range inputs {
		text, err := os.ReadFile(s.path(name))
		if err != nil {
			s.Fatal(err)
		}
		plain.write(name, string(text))
	}
	fresh := s.next()
	if l := fresh.live("", "run", "./job.yaml"); l.code != 0 {
		s.Fatalf("the job ends with %d: %s", l.code, fresh.tale())
	}
	outputs := func(text string) map[string]string {
		var run struct{ Steps []struct{ ID, Output string } }
		if err := json.Unmarshal([]byte(text), &run); err != nil {
			s.Fatal(err)
		}
		list := map[string]string{}
		for _, step := range run.Steps {
			list[step.ID] = step.Output
		}
		return list
	}
	want, got := outputs(plain.ask("run", "./job.yaml", "--no-history", "--progress", "none", "-o", "json")), outputs(fresh.ask("show", fresh.run, "-o", "json"))
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("steps print (-without the cache +with it):\n%s", diff)
	}
	if diff := cmp.Diff(plain.tree(), fresh.tree()); diff != "" {
		s.Errorf("the job makes (-without the cache +with it):\n%s", diff)
	}
	reused := fresh.reusedRight()
	fresh.judge()
	return reused
}

// tree is what lies in the folder of the story and is not the story's own.
func (s *story) tree() map[string]string {
	s.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(s.dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(s.dir, file)
		if rel == "tmp" {
			return filepath.SkipDir
		}
		if rel == "." || rel == "traces" || strings.HasPrefix(rel, "stderr.") {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var text []byte
		switch {
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(file)
			found[rel] = "-> " + target
			return err
		case d.Type().IsRegular():
			if text, err = os.ReadFile(file); err != nil {
				return err
			}
		}
		found[rel] = fmt.Sprintf("%v %d bytes %.20q %x", info.Mode(), len(text), text, sha256.Sum256(text))
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
	return found
}

// cachedKilledAtRandom: each story is two runs whose engines are killed, while files
// change between their lives, and one more that must be as good as one without the
// cache.
func cachedKilledAtRandom(t *testing.T, b killBed) {
	seed := sizetest.Seed(t)
	began := time.Now()
	if l := b.story(t, cached, "whole").live("", "run", "./job.yaml"); l.code != 0 {
		t.Fatalf("the job ends with %d", l.code)
	}
	took := time.Since(began)
	want, reused := sizetest.Of(4, 40, 500), 0
	c := &toll{phases: map[string]int{}, ends: map[string]int{}}
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for !c.enough(want) && !t.Failed() {
				i := c.next()
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					r := rand.New(rand.NewPCG(seed, uint64(i)))
					s := b.story(t, cached, fmt.Sprintf("cached-%d", i))
					n := 0
					for range 2 {
						s.meddle = func() { s.edit(r) }
						s.play(r, 1+r.IntN(3), took, c)
						s.meddle = nil
						n += s.reusedRight()
						s.judge()
						s = s.next()
					}
					n += s.asUncached()
					c.mu.Lock()
					reused += n
					c.mu.Unlock()
				})
			}
		})
	}
	workers.Wait()
	b.integrity(t)
	t.Logf("%d kills in %d stories, %d steps reused; %.1f s", c.kills, c.stories, reused, time.Since(began).Seconds())
	if reused == 0 {
		t.Error("nothing is proved: no step was reused")
	}
}

// cachePoints are the points that an engine passes when it keeps a result
// (internal/engine/cache), when it puts one back, and around its record.
var cachePoints = map[string][]string{
	"keep":    {"cache-begun", "cache-copied", "cache-written", "cache-aside", "cache-placed", "append-before", "append-after"},
	"restore": {"cache-noted", "cache-halfway", "cache-restored", "append-before", "append-after"},
}

// cachedKilledAtPoints kills an engine at each of the points, each time it passes it.
func cachedKilledAtPoints(t *testing.T, b killBed) {
	for what, list := range cachePoints {
		for _, point := range list {
			t.Run(what+" "+point, func(t *testing.T) {
				t.Parallel()
				passes := 0
				for passes < mostPasses && b.killedCaching(t, what, fmt.Sprintf("%s:%d", point, passes+1)) {
					passes++
				}
				if passes == 0 || passes == mostPasses {
					t.Errorf("the point was passed %d times", passes)
				}
				t.Log(what, point, passes, "kills")
			})
		}
	}
}

// killedCaching kills an engine at a point, when it keeps results in place of others
// or puts outputs back, and brings the run to its end. It says whether the point was
// reached.
func (b killBed) killedCaching(t *testing.T, what, point string) bool {
	t.Helper()
	s := b.story(t, cached, what+"-"+strings.ReplaceAll(point, ":", "-"))
	if l := s.live("", "run", "./job.yaml"); l.code != 0 {
		t.Fatal(s.tale())
	}
	s = s.next()
	args := []string{"run", "./job.yaml"}
	if what == "keep" {
		args = append(args, "--force")
	}
	for _, name := range made {
		os.RemoveAll(s.path(name))
	}
	l := s.live(point, args...)
	killed := l.killed
	if killed && strings.HasSuffix(point, "2") { // in some of the stories
		s.write("src-x", "two")
	}
	if killed && s.run == "" {
		l = s.live("", args...)
	}
	if l.killed {
		l = s.live("", "resume", s.run)
	}
	if l.code != 0 {
		t.Errorf("killed at %s, the run does not end: %s", point, s.tale())
	}
	s.reusedRight()
	s.judge()
	s.asUncached()
	if t.Failed() {
		t.FailNow()
	}
	return killed
}
