package faulttest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// gated has a step that fails, a question that is rejected and one that is approved, each in a branch of its own, and
// handlers.
var gated = killJob{files: map[string]string{"job.yaml": `name: NAME
description: Fails beside two questions.
steps:
  - {name: pay, wait-for: [], sh: 'START; END; exit 1'}
  - {name: first, wait-for: [], approve: "One?"}
  - {name: never, wait-for: [first], sh: 'START; END'}
  - {name: second, wait-for: [], approve: "Two?"}
  - {name: go, wait-for: [second], sh: 'START; END'}
on-failure: [{name: alarm, sh: 'START; END'}]
finally: [{name: tidy, sh: 'START; END'}]
`}}

// gatesKilledAtPoints kills a process at each point that it passes, each time it passes it: one that begins a run with
// questions, one that rejects the first and one that approves the second.
func gatesKilledAtPoints(t *testing.T, b killBed) {
	every := slices.Concat(points, []string{"answer-before", "answer-after", "rest-before", "rest-after"})
	for act, name := range []string{"run", "reject", "approve"} {
		for _, point := range every {
			t.Run(name+" "+point, func(t *testing.T) {
				t.Parallel()
				kills := 0
				for n := 1; n < mostPasses && b.gatesKilledAt(t, act, fmt.Sprintf("%s:%d", point, n)); n += sizetest.Of(7, 3, 1) {
					kills++
				}
				t.Log(name, point, kills, "kills")
			})
		}
	}
}

// gatesKilledAt plays a run in which one of three commands is killed at a point. It says whether the point was reached.
func (b killBed) gatesKilledAt(t *testing.T, act int, point string) (killed bool) {
	t.Helper()
	s := b.story(t, gated, fmt.Sprintf("gates-%d-%s", act, strings.ReplaceAll(point, ":", "-")))
	for i, command := range []func() []string{
		func() []string { return []string{"run", "./job.yaml", "--no-input"} },
		func() []string { return []string{"reject", s.run, "first"} },
		func() []string { return []string{"approve", s.run, "second"} },
	} {
		at := ""
		if i == act {
			at = point
		}
		if l := s.live(at, command()...); l.killed {
			killed = true
			s.continueRun(command)
		}
		if s.run == "" {
			t.Fatal(s.tale())
		}
	}
	s.asAnswered()
	if t.Failed() {
		t.FailNow()
	}
	return killed
}

// continueRun does what a person does after a command was killed: give it again if it did nothing, or continue the run.
func (s *story) continueRun(command func() []string) {
	s.Helper()
	switch {
	case s.run == "":
		s.live("", command()...)
	case s.status() == "interrupted":
		s.live("", "resume", s.run, "--rerun-interrupted")
		if s.status() == "waiting" && command()[0] != "run" {
			s.live("", command()...)
		}
	case s.status() == "waiting" && command()[0] != "run":
		if l := s.live("", command()...); l.says("already") {
			s.live("", "resume", s.run)
		}
	}
}

// status is the status of the run.
func (s *story) status() string {
	s.Helper()
	var doc struct{ Status string }
	if err := json.Unmarshal([]byte(s.ask("show", s.run, "-o", "json")), &doc); err != nil {
		s.Fatal(err)
	}
	return doc.Status
}

// asAnswered checks that the run has ended as it was answered, and that no step began again whose end was on record.
func (s *story) asAnswered() {
	s.Helper()
	if got := s.status(); got != "failed" {
		s.Errorf("the run is %s: %s", got, s.tale())
	}
	ended := map[dag.ID]string{}
	for _, e := range s.events {
		switch reason, over := ended[e.Node]; {
		case over && (e.Kind == dag.StepStarted || e.Kind == dag.StepFinished):
			s.Errorf("event %d: %s had ended, %q: %s", e.Seq, e.Node, reason, s.tale())
		case e.Kind == dag.StepFinished:
			ended[e.Node] = e.Result.Reason
		}
	}
	if ended["pay"] != dag.ReasonExit || ended["first"] != "rejected" {
		s.Errorf("the ends are %v: %s", ended, s.tale())
	}
	starts := map[string]int{}
	for _, d := range s.traces() {
		if d.what == "start" {
			starts[d.step]++
		}
	}
	if starts["never"] > 0 || starts["pay"]*starts["go"]*starts["alarm"]*starts["tidy"] == 0 {
		s.Errorf("began: %v: %s", starts, s.tale())
	}
}

// gatesKilledService kills the service three times in a run with questions, at a random moment after each thing that a
// person does.
func gatesKilledService(t *testing.T, b killBed) {
	for round := range sizetest.Of(1, 4, 30) {
		s := b.story(t, gated, fmt.Sprintf("served-%d", round))
		s.write(".flowrun/tools/"+s.name+".yaml", strings.Replace(traces.Replace(strings.Replace(gated.files["job.yaml"], "NAME", s.name, 1)), "steps:", "on-interrupt: retry\nsteps:", 1))
		var service *os.Process
		serve := func() {
			c := s.command("serve", "--listen", "unix:"+s.path("sock"))
			c.Env = append(c.Env, "LIFE=1")
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Process.Kill(); c.Wait() })
			service = c.Process
		}
		serve()
		do := func(args ...string) {
			t.Helper()
			var out []byte
			var err error
			waittest.Until(t, strings.Join(args, " "), func() bool {
				c := s.command(args...)
				c.Env = append(c.Env, "LIFE=2")
				out, err = c.CombinedOutput()
				return err == nil || strings.Contains(string(out), "is not waiting for an answer") // an earlier try did it
			}, func() any { return string(out) })
			time.Sleep(rand.N(40 * time.Millisecond))
			service.Kill()
			service.Wait()
			waittest.Until(t, "end of the socket, which a process that was just being started holds for a moment", func() bool {
				c, err := net.Dial("unix", s.path("sock"))
				if err == nil {
					c.Close()
				}
				return err != nil
			})
			serve()
		}
		await := func(status string) {
			t.Helper()
			waittest.Until(t, status, func() bool { return s.status() == status }, func() any { return s.ask("show", s.run) })
		}
		do("run", s.name, "--detach")
		waittest.Until(t, "run on record", func() bool { s.find(&life{}); return s.run != "" }, func() any { return s.tale() })
		await("waiting")
		do("reject", s.run, "first")
		await("waiting")
		do("approve", s.run, "second")
		await("failed")
		service.Kill()
		s.look(&life{})
		s.asAnswered()
		if t.Failed() {
			return
		}
	}
}
