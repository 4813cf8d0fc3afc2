package dagu_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/importtest"
)

// TestWhatNeedsSomethingLeftOut checks what is left out with what it needs.
func TestWhatNeedsSomethingLeftOut(t *testing.T) {
	importtest.LeftOut(t, read, []importtest.Guarded{
		{"skipIfSuccessful: true\nschedule: 0 7 * * *\nsteps: [echo GUARDED]\n", "flowrun cannot skip a scheduled time", "GUARDED"},
		{"timeoutSec: 1h\nsteps: [echo GUARDED]\n", "its timeoutSec is not a number of seconds: 1h", ""},
		{"steps: [{command: echo GUARDED, timeoutSec: 1h}]\n", "its timeoutSec is not a number of seconds: 1h", ""},
		{"timeoutSec: 0\nsteps: [echo GUARDED]\n", "", "GUARDED"},
		{"preconditions: []\nsteps: [echo GUARDED]\n", "", "GUARDED"},
		{"precondition:\nsteps: [echo GUARDED]\n", "", "GUARDED"},
		{"preconditions: [{}]\nsteps: [echo GUARDED]\n", "no precondition of a whole tool", ""},
		{"preconditions: test -f x\nsteps: [echo GUARDED]\n", "no precondition of a whole tool", ""},
		{"preconditions: {condition: $P, expected: x}\nsteps: [echo GUARDED]\n", "no precondition of a whole tool", ""},
		{"steps: [{command: echo GUARDED, preconditions: []}]\n", "", "GUARDED"},
		{"steps: [{command: echo GUARDED, preconditions: test -f x}]\n", "does not evaluate its preconditions", ""},
		{"steps: [{command: echo GUARDED, preconditions: {condition: $P, expected: x}}]\n", "does not evaluate its preconditions", ""},
		{"maxActiveRuns: one\nsteps: [echo GUARDED]\n", "its maxActiveRuns is not a number", ""},
		{"dotenv: [$X]\nsteps: [echo GUARDED $V]\n", "it reads a file of variables whose path is known only when it runs", ""},
		{"schedule: 0 7 * * *\nparams: A=b\nstrange: x\nsteps: [echo GUARDED]\n", "the DAG is left out", ""},
		{"steps: [{name: a, command: echo a, output: V, executor: docker}, {name: b, depends: [], command: echo b}]\nhandlerOn: {exit: {command: echo GUARDED $V}}\n", "it reads V, which is the output of a", ""},
		{"params: [{name: A, enum: [x, y]}]\nsteps: [echo GUARDED]\n", "A has no default", "required: true\n    validation:\n      enum: [x, y]"},
	})
}

func TestGuards(t *testing.T) { importtest.Guards(t, read, source) }

// source writes a random file.
func source(s *importtest.Source) {
	kind := s.Pick("", "chain", "graph")
	if kind != "" {
		s.Write("type: %s\n", kind)
	}
	s.Write("params: P=x\n")
	if s.OneIn(15) {
		s.Write("preconditions: [{condition: $P, expected: never}]\n")
		defer func() {
			for c := range s.Guards {
				s.Guards[c] = append(s.Guards[c], "never")
			}
		}()
	}
	s.Write("steps:\n")
	var done [][]string
	for n := range 5 {
		var guards []string
		line := ""
		switch {
		case n > 0 && (kind == "graph" || s.OneIn(3)):
			other := s.IntN(n)
			guards = append(guards, done[other]...)
			line += fmt.Sprintf(", depends: [s%d]", other)
		case kind == "chain" && n > 0:
			guards = append(guards, done[n-1]...)
		}
		if s.OneIn(4) {
			g := s.Word("guard")
			guards = append(guards, g)
			line += ", " + strings.ReplaceAll(s.Pick("preconditions: [{condition: $P, expected: G}]", "preconditions: [{condition: $P, expected: G}]",
				"preconditions: {condition: $P, expected: G}", "preconditions: [test G]", "preconditions: [{condition: $P, expected: [G]}]", "executor: G"), "G", g)
		}
		c := s.Command(guards)
		mine := append(slices.Clone(guards), c)
		if s.OneIn(8) {
			line += ", continueOn: {failure: true}"
			mine = guards
		} else if s.OneIn(8) {
			line += s.Pick(", continueOn: [failure]", ", timeoutSec: [5]", ", shell: fish", ", dir: {a: b}")
		}
		s.Write("  - {name: s%d, command: echo %s%s}\n", n, c, line)
		done = append(done, mine)
	}
}
