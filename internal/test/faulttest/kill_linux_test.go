package faulttest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// Whatever happens to the engine, what it has acknowledged stays, and the run can be
// resumed and ends.
func TestEngine(t *testing.T) {
	t.Parallel()
	shipped := build(t)
	bed := func(t *testing.T, program string) killBed {
		return killBed{program, filepath.Join(t.TempDir(), "state")}
	}

	t.Run("killed at random", func(t *testing.T) { killedAtRandom(t, bed(t, shipped)) })
	t.Run("killed at every point", func(t *testing.T) { killedAtPoints(t, bed(t, pointed(t))) })
	t.Run("features, killed at every point", func(t *testing.T) { featuresKilledAtPoints(t, bed(t, pointed(t))) })
	t.Run("questions, killed at every point", func(t *testing.T) { gatesKilledAtPoints(t, bed(t, pointed(t))) })
	t.Run("questions, service killed", func(t *testing.T) { gatesKilledService(t, bed(t, shipped)) })
	t.Run("cached, killed at random", func(t *testing.T) { cachedKilledAtRandom(t, bed(t, shipped)) })
	t.Run("cached, killed at every point", func(t *testing.T) { cachedKilledAtPoints(t, bed(t, pointed(t))) })
	t.Run("killed around a cleanup", func(t *testing.T) { killedAroundCleanup(t, bed(t, pointed(t))) })
	t.Run("stopped", func(t *testing.T) { stopped(t, bed(t, shipped)) })
	t.Run("stopped for long", func(t *testing.T) { stoppedForLong(t, bed(t, shipped)) })
	t.Run("many at once", func(t *testing.T) { manyAtOnce(t, bed(t, shipped)) })
	t.Run("two resume", func(t *testing.T) { twoResume(t, bed(t, shipped)) })
	t.Run("full disk", func(t *testing.T) { fullDisk(t, killBed{program: shipped}) })
	t.Run("read-only disk", func(t *testing.T) { readOnlyDisk(t, killBed{program: shipped}) })
	t.Run("few files", func(t *testing.T) { fewFiles(t, bed(t, shipped)) })
}

// pointed returns a program that can be killed at named points. It is another program than the shipped one, which takes a
// while to build; that every write of a journal can be the last one is also shown without processes, by TestResumeEverywhere
// and its like in internal/test/enginetest.
func pointed(t *testing.T) string {
	t.Helper()
	sizetest.Need(t, sizetest.Gate, "builds flowrun with points at which it is killed")
	return build(t, "failpoint")
}

// toll counts what random stories have seen. It is safe for concurrent use.
type toll struct {
	mu      sync.Mutex
	stories int
	kills   int
	phases  map[string]int // in which phase kills have hit
	events  int            // acknowledged before a kill
	ends    map[string]int // exit codes of undisturbed lives
}

func (c *toll) next() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stories++
	return c.stories
}

func (c *toll) enough(want int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kills >= want
}

func (c *toll) note(l *life) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !l.killed {
		c.ends[fmt.Sprintf("%s exits with %d", l.command, l.code)]++
		return
	}
	c.kills++
	c.events += len(l.printed)
	c.phases[l.phase()]++
}

// phase is how far a life came.
func (l *life) phase() string {
	switch {
	case len(l.printed) == 0 && l.after == l.before:
		return l.command + " before it recorded anything"
	case len(l.printed) > 0 && strings.Contains(l.printed[len(l.printed)-1], `"kind":"run.finished"`):
		return l.command + " after its end"
	}
	return l.command + " under way"
}

// killedAtRandom kills engines at random moments, several in a row.
func killedAtRandom(t *testing.T, b killBed) {
	seed := sizetest.Seed(t)
	began := time.Now()
	whole := b.story(t, manifold, "whole")
	if l := whole.live("", "run", "./job.yaml"); l.code != 0 {
		t.Fatal(whole.tale())
	}
	took := time.Since(began)

	want := sizetest.Of(6, 100, 1000)
	c := &toll{phases: map[string]int{}, ends: map[string]int{}}
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for !c.enough(want) && !t.Failed() {
				i := c.next()
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					own := b
					if i%5 == 0 { // a history that is just being begun
						own.state = filepath.Join(t.TempDir(), "state")
					}
					job := manifold
					if i%3 == 0 {
						job = loops
					}
					s := own.story(t, job, fmt.Sprintf("story-%d", i))
					s.play(rand.New(rand.NewPCG(seed, uint64(i))), 1+i%4, took, c)
					s.judge()
					if i%5 == 0 {
						own.integrity(t)
					}
				})
			}
		})
	}
	workers.Wait()
	b.integrity(t)
	t.Logf("%d kills in %d stories, %d events acknowledged before them; %.1f s", c.kills, c.stories, c.events, time.Since(began).Seconds())
	for _, counts := range []map[string]int{c.phases, c.ends} {
		for _, k := range slices.Sorted(maps.Keys(counts)) {
			t.Logf("  %4d %s", counts[k], k)
		}
	}
}

// play runs the job, kills its engine as many times, each time within a moment of
// its beginning, and brings it to its end.
func (s *story) play(r *rand.Rand, kills int, within time.Duration, c *toll) {
	s.Helper()
	rerun := false
	for range 40 {
		args := []string{"run", "./job.yaml"}
		if s.run != "" {
			args = []string{"resume", s.run}
			if rerun {
				args = append(args, "--rerun-interrupted")
			}
		}
		l := s.begin("", args...)
		var death *time.Timer
		if kills > 0 {
			kills--
			moment := time.Duration(r.Int64N(int64(within)))
			if l.command == "resume" { // there is less to do
				moment /= 2
			}
			death = time.AfterFunc(moment, func() { l.Process.Kill() })
		}
		s.end(l)
		if death != nil {
			death.Stop()
		}
		c.note(l)
		if l.killed {
			continue
		}
		if s.over(l) && (l.code == 0 || r.IntN(2) == 0) {
			return
		}
		rerun = true
	}
	s.Fatalf("the run does not come to an end: %s", s.tale())
}

// over says whether a run has come to its end with a life that nobody killed. A run
// that waits has not, and a life that only found that has done nothing.
func (s *story) over(l *life) bool {
	s.Helper()
	once := s.standings(l.before)[s.job.once]
	switch {
	case l.code == 0:
		return true
	case l.code == 1 && !l.rerun && s.standings(l.after)[s.job.once].status == dag.Interrupted:
		return true
	case l.code == 7 && !l.rerun && l.command == "resume" && l.after == l.before && s.begun("asked", l):
		return false
	}
	s.Fatalf("life %d exits with %d; step %q was %v before it: %s", l.number, l.code, s.job.once, once.status, s.tale())
	return false
}

// begun says whether a step was active when a life began.
func (s *story) begun(step string, l *life) bool {
	st := s.standings(l.before)[step]
	return st.started && !st.finished
}

// stopped: an engine that is silent for a moment keeps its run.
func stopped(t *testing.T, b killBed) {
	s := b.story(t, held, "stopped")
	l := s.begin("", "run", "./job.yaml")
	s.await("hold", l)
	s.signal(l, syscall.SIGSTOP)
	s.look(l)
	if other := s.live("", "resume", s.run); other.code != 5 || other.after > other.before {
		t.Errorf("resume exits with %d: %s", other.code, s.tale())
	}
	s.signal(l, syscall.SIGCONT)
	s.write("go", "")
	if s.end(l); l.code != 0 {
		t.Errorf("it exits with %d", l.code)
	}
	s.judge()
}

// stoppedForLong: an engine that is silent for longer than its lease loses its run,
// and when it wakes up it writes nothing more and touches nothing of its successor's.
func stoppedForLong(t *testing.T, b killBed) {
	sizetest.Need(t, sizetest.Long, "takes half a minute")
	s := b.story(t, held, "stopped")
	first := s.begin("", "run", "./job.yaml")
	s.await("hold", first)
	s.signal(first, syscall.SIGSTOP)
	s.look(first)
	time.Sleep(35 * time.Second) // a lease is 30 s
	second := s.begin("", "resume", s.run)
	s.await("hold", second)
	s.signal(first, syscall.SIGCONT)
	if s.end(first); first.code != 1 || !first.says("another process has taken over the run") {
		t.Errorf("the first exits with %d: %s", first.code, s.tale())
	}
	if len(first.printed) > second.before {
		t.Errorf("the first has written when the run was the second's: %s", s.tale())
	}
	if left := s.marked(); len(left) == 0 {
		t.Errorf("the first has ended the second's step: %s", s.tale())
	}
	s.write("go", "")
	if s.end(second); second.code != 0 {
		t.Errorf("the second exits with %d: %s", second.code, s.tale())
	}
	s.judge()
}

func (s *story) signal(l *life, sig syscall.Signal) {
	s.Helper()
	if err := l.Process.Signal(sig); err != nil {
		s.Fatal(err)
	}
}

// manyAtOnce begins runs at the same moment where there is no history yet.
func manyAtOnce(t *testing.T, b killBed) {
	var stories []*story
	for i := range sizetest.Of(4, 8, 8) {
		s := b.story(t, small, fmt.Sprintf("many-%d", i))
		s.begin("", "run", "./job.yaml")
		stories = append(stories, s)
	}
	for _, s := range stories {
		if l := s.end(s.lives[0]); l.code != 0 || s.run == "" {
			t.Errorf("it exits with %d: %s", l.code, s.tale())
		}
	}
	for _, s := range stories {
		s.judge()
	}
	b.integrity(t)
}

// twoResume: of two that resume a run at the same moment, one gets it.
func twoResume(t *testing.T, b killBed) {
	for i := range sizetest.Of(1, 5, 5) {
		s := b.story(t, held, fmt.Sprintf("two-%d", i))
		l := s.begin("", "run", "./job.yaml")
		s.await("hold", l)
		s.signal(l, syscall.SIGKILL)
		s.end(l)
		done := make(chan *life, 2)
		for range 2 {
			l := s.begin("", "resume", s.run)
			go func() {
				l.Wait()
				done <- l
			}()
		}
		if loser := s.end(<-done); loser.code != 5 {
			t.Errorf("one exits with %d: %s", loser.code, s.tale())
		}
		s.write("go", "")
		if winner := s.end(<-done); winner.code != 0 {
			t.Errorf("the other exits with %d: %s", winner.code, s.tale())
		}
		s.judge()
	}
}
