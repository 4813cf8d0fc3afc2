package faulttest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// points are the names of the points before and after each write to the history
// (internal/store/sqlite). Only who takes over a run passes those of claim.
var points = []string{"begin-before", "begin-after", "append-before", "append-after", "sync-before", "sync-after",
	"finish-before", "finish-after", "close-before", "close-after", "claim-before", "claim-after"}

// mostPasses is far more often than a small job passes a point.
const mostPasses = 40

// killedAtPoints kills an engine at each point it passes, each time it passes it:
// one that begins a run, and one that resumes a run.
func killedAtPoints(t *testing.T, b killBed) {
	atEachPoint(t, b, small, points)
	t.Run("loop", func(t *testing.T) { atEachPoint(t, b, smallLoop, []string{"append-before", "append-after"}) })
}

// atEachPoint kills an engine that runs a job, or resumes it, at each of the points, each time it passes it.
func atEachPoint(t *testing.T, b killBed, job killJob, points []string) {
	for _, command := range []string{"run", "resume"} {
		for _, point := range points {
			if command == "run" && strings.HasPrefix(point, "claim") || command == "resume" && strings.HasPrefix(point, "begin") {
				continue
			}
			t.Run(command+" "+point, func(t *testing.T) {
				t.Parallel()
				passes := 0
				for passes < mostPasses && b.killedAt(t, job, command, fmt.Sprintf("%s:%d", point, passes+1)) {
					passes++
				}
				if passes == 0 || passes == mostPasses {
					t.Errorf("the point was passed %d times", passes)
				}
				t.Log(command, point, passes, "kills")
			})
		}
	}
}

// killedAt kills an engine at a point and brings the run to its end. It says whether
// the point was reached.
func (b killBed) killedAt(t *testing.T, job killJob, command, point string) bool {
	t.Helper()
	s := b.story(t, job, fmt.Sprintf("%s-%d-%s", command, len(job.files["job.yaml"]), strings.ReplaceAll(point, ":", "-")))
	begin := []string{"run", "./job.yaml"}
	if command == "resume" {
		if l := s.live("append-after:1", begin...); !l.killed || s.run == "" {
			t.Fatal(s.tale())
		}
		begin = []string{"resume", s.run}
	}
	l := s.live(point, begin...)
	killed := l.killed
	if killed && s.run == "" {
		l = s.live("", begin...)
	}
	if l.killed {
		l = s.live("", "resume", s.run)
	}
	if l.killed || !s.over(l) {
		t.Errorf("killed at %s, the run does not end: %s", point, s.tale())
	}
	s.judge()
	if job.after != nil {
		job.after(s)
	}
	if t.Failed() {
		t.FailNow()
	}
	return killed
}

// cleanup makes something, tries it, and takes it away whatever resulted from that. The
// test fails while there is a file "broken".
var cleanup = killJob{
	waits: map[string]string{"test": "provision", "destroy": "test"},
	files: map[string]string{"job.yaml": `name: NAME
description: Provision, test, destroy.
on-interrupt: retry
steps:
  - {name: provision, sh: 'START; END'}
  - {name: test, sh: 'START; if test -e broken; then exit 3; fi; END'}
  - {name: destroy, run-condition: always(), sh: 'START; END'}
`}}

// What is said before a run continues, and that it is what is done. Each cut is the
// death of one engine; the next one speaks.
func killedAroundCleanup(t *testing.T, b killBed) {
	for _, c := range []struct {
		cuts   string // points, for one engine each
		broken bool   // the test fails in all of their lives
		said   string // "": there is nothing to do; noted: that provision stands, and destroy has run
	}{
		{"begin-after:1", false, "runs for the first time: provision, test, destroy"},
		{"append-before:1", false, "runs for the first time: provision, test, destroy"},
		{"append-after:1", false, "runs again: provision; runs for the first time: test, destroy"},
		{"append-before:2", false, "runs again: provision; runs for the first time: test, destroy"},
		{"append-after:2", false, "keeps its result: provision; runs again: test; runs for the first time: destroy"},
		{"append-before:3", false, "keeps its result: provision; runs again: test; runs for the first time: destroy"},
		{"append-after:3", false, "keeps its result: provision, test; runs again: destroy"},
		{"finish-before:1", false, "keeps its result: provision, test; runs again: destroy"},
		{"finish-after:1", false, ""},
		{"append-before:3", true, "keeps its result: provision; runs again: test; runs for the first time: destroy"},
		{"finish-after:1", true, "keeps its result: provision; runs again: test, destroy; noted"},
		// Killed once more when it has been resumed.
		{"append-after:2 claim-after:1", false, "keeps its result: provision; runs again: test; runs for the first time: destroy"},
		{"append-after:2 finish-before:1", false, "keeps its result: provision; runs again: test; runs for the first time: destroy"},
		{"append-after:2 finish-after:1", false, "keeps its result: provision; runs again: test; runs for the first time: destroy"},
		{"append-after:2 append-after:1", false, "keeps its result: provision, test; runs again: destroy"},
		{"append-after:3 finish-before:2", false, "keeps its result: provision, test; runs again: destroy"},
		{"append-after:3 finish-after:2", false, ""},
		{"finish-after:1 finish-before:1", true, "keeps its result: provision; runs again: test, destroy; noted"},
		{"finish-after:1 finish-after:2", true, "keeps its result: provision; runs again: test, destroy; noted"},
	} {
		name := strings.NewReplacer(":", "-", " ", "-").Replace(c.cuts) + fmt.Sprintf("-%t", c.broken)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := b.story(t, cleanup, name)
			if c.broken {
				s.write("broken", "")
			}
			args := []string{"run", "./job.yaml"}
			for point := range strings.FieldsSeq(c.cuts) {
				if l := s.live(point, args...); !l.killed || s.run == "" {
					t.Fatalf("point %s is not reached: %s", point, s.tale())
				}
				args = []string{"resume", s.run}
			}
			os.Remove(s.path("broken"))
			l := s.live("", append(args, "--progress", "plain")...)
			s.foretold(l, c.said)
			s.judge()
		})
	}
}

// foretold holds what an engine has said before it went on against what it was to
// say, and what it did against that.
func (s *story) foretold(l *life, want string) {
	s.Helper()
	var said []string
	var steps string
	for _, line := range l.said {
		text, ok := strings.CutPrefix(line, "flowrun:   ")
		if !ok {
			continue
		}
		if strings.HasPrefix(text, "note: ") && strings.Contains(text, "provision") && strings.Contains(text, "destroy") {
			text = "noted"
		}
		said = append(said, text)
		if what, list, _ := strings.Cut(text, ": "); strings.HasPrefix(what, "runs") {
			steps += strings.ReplaceAll(list, ",", "") + " "
		}
	}
	if got := strings.Join(said, "; "); got != want || l.code != 0 {
		s.Errorf("it exits with %d and has said\n%s\nwant\n%s", l.code, got, want)
	}
	var began string
	for _, d := range s.traces() {
		if d.what == "start" && d.life == l.number {
			began += d.step + " "
		}
	}
	if began != steps {
		s.Errorf("it was to run %q, and has run %q", steps, began)
	}
}

// fullDisk fills the disk of the history under a run: the reserve has room for its end, and
// no other run begins.
func fullDisk(t *testing.T, b killBed) {
	b.state = mounted(t, "size=2m")
	s := b.story(t, held, "full")
	l := s.begin("", "run", "./job.yaml")
	s.await("hold", l)
	empty := fill(t, b.state)
	s.write("go", "")
	l.Wait()
	other := b.story(t, held, "none")
	if err := other.command("run", "./job.yaml").Run(); err == nil || len(other.traces()) > 0 {
		t.Errorf("a run was begun on a full disk: %v", err)
	}
	empty()
	s.end(l)
	if l.code != 0 {
		t.Errorf("it exits with %d: %s", l.code, s.tale())
	}
	other.write("go", "")
	if err := other.command("run", "./job.yaml").Run(); err != nil {
		t.Errorf("there is room again, and another run does not succeed: %v", err)
	}
	s.judge()
	b.integrity(t)
}

// readOnlyDisk takes the right to write away.
func readOnlyDisk(t *testing.T, b killBed) {
	b.state = mounted(t, "size=8m")
	s := b.story(t, cleanup, "read-only")
	s.write("broken", "")
	if l := s.live("", "run", "./job.yaml"); l.code != 1 {
		t.Fatal(s.tale())
	}
	done := len(s.traces())
	remount(t, b.state, syscall.MS_RDONLY)
	for _, args := range [][]string{{"run", "./job.yaml"}, {"resume", s.run}} {
		if l := s.live("", args...); l.code != 1 || !l.says("cannot be opened or written; check the permissions") {
			t.Errorf("%s exits with %d: %s", args[0], l.code, s.tale())
		}
	}
	if len(s.traces()) > done {
		t.Error("steps ran, and could not be recorded")
	}
	if list := s.ask("runs"); strings.Count(list, "read-only") != 1 {
		t.Errorf("the list of runs is %q", list)
	}
	remount(t, b.state, 0)
	os.Remove(s.path("broken"))
	if l := s.live("", "resume", s.run); l.code != 0 {
		t.Errorf("the disk can be written again, and resume exits with %d", l.code)
	}
	s.judge()
}

// fewFiles runs with ever fewer open files. Either it ends as it should, or it says
// what is missing, and the run ends when there is more.
func fewFiles(t *testing.T, b killBed) {
	// With 16 and 18, two steps wait ten seconds each for descriptors.
	for _, limit := range sizetest.Of([]int{64, 24, 8}, []int{64, 32, 24, 20, 18, 16, 8}, []int{64, 32, 24, 20, 18, 16, 14, 12, 10, 8}) {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			s := b.story(t, manifold, fmt.Sprintf("files-%d", limit))
			s.files = limit
			l := s.begin("", "run", "./job.yaml")
			s.files = 0
			s.end(l)
			if l.code != 0 && (limit == 64 || l.code != 1 || !s.lacksFiles(l)) {
				t.Errorf("it exits with %d: %s", l.code, s.tale())
			}
			t.Logf("with %d files it exits with %d", limit, l.code)
			switch {
			case l.code == 0:
			case s.run == "":
				l = s.live("", "run", "./job.yaml")
			default:
				l = s.live("", "resume", s.run, "--rerun-interrupted")
			}
			if l.code != 0 {
				t.Errorf("there are enough files again, and it exits with %d", l.code)
			}
			s.judge()
		})
	}
}

// lacksFiles says whether a life gives that as its reason, or that of a step.
func (s *story) lacksFiles(l *life) bool {
	const text, advice, beginning = "too many open files", "too many files are open", "the limit on open files is"
	return l.says(text) || l.says(advice) || l.says(beginning) || slices.ContainsFunc(s.events[l.before:l.after], func(e dag.Event) bool {
		return e.Result != nil && strings.Contains(e.Result.Message, text)
	})
}

// says whether a line of stderr has the text.
func (l *life) says(text string) bool {
	return slices.ContainsFunc(l.said, func(line string) bool { return strings.Contains(line, text) })
}

// mounted is a file system in memory, of this test alone.
func mounted(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options+",mode=0700"); err != nil {
		needtest.Missing(t, "cannot mount a file system: %v; run as root", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func remount(t *testing.T, dir string, flags uintptr) {
	t.Helper()
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|flags, ""); err != nil {
		t.Fatal(err)
	}
}

// fill leaves no room on a file system, until the answer is called.
func fill(t *testing.T, dir string) (empty func()) {
	t.Helper()
	file := filepath.Join(dir, "fill")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); ; {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			return func() { os.Remove(file) }
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
