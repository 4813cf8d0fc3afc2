package taskfile_test

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
		{"includes: {b: ./b}\ntasks: {a: {cmd: echo GUARDED}}\n", "includes of the file is left out", "GUARDED"},
		{"includes: {b: ./b}\ntasks: {a: {cmd: echo GUARDED $V}}\n", "it reads V, which an included file may set", ""},
		{"includes: {b: ./b}\ntasks: {a: {cmds: [{task: 'b:c'}, echo GUARDED]}}\n", "b:c", ""},
		{"tasks:\n  a: {deps: [b, b], cmd: echo x}\n  b: {internal: true, run: once, cmd: echo GUARDED}\n", "it calls b again, which runs once", ""},
		{"run: when_changed\ntasks:\n  a: {cmds: [{task: b}, {task: b}]}\n  b: {internal: true, cmd: echo GUARDED}\n", "it calls b again, which runs once", ""},
		{"run: once\ntasks:\n  a: {cmds: [{task: b}, {task: b}]}\n  b: {internal: true, run: always, cmd: echo GUARDED}\n", "", "GUARDED"},
		{"set: [n]\ntasks: {a: {cmd: echo GUARDED}}\n", "", "set -n\n      echo GUARDED"},
		{"set: [strange]\ntasks: {a: {cmd: echo GUARDED}}\n", "set: strange is not an option", ""},
		{"tasks: {a: {cmd: echo GUARDED, set: [strange]}}\n", "set: strange is not an option", ""},
		{"shopt: [extglob]\ntasks: {a: {cmd: echo GUARDED}}\n", "shopt of the file is left out", "GUARDED"},
	})
}

func TestGuards(t *testing.T) { importtest.Guards(t, read, source) }

// source writes a random file.
func source(s *importtest.Source) {
	s.Write("tasks:\n")
	var done [][]string // the commands of each task, which must succeed
	for n := range 4 {
		s.Write("  t%d:\n", n)
		var guards []string
		guard := func(chance int, shapes ...string) {
			if s.OneIn(chance) {
				g := s.Word("guard")
				guards = append(guards, g)
				s.Write("    %s\n", strings.ReplaceAll(s.Pick(shapes...), "G", g))
			}
		}
		guard(4, "prompt: G?", "prompt: [G?]", "prompt: ['', G?]", "prompt: {a: G}")
		s.Tools[fmt.Sprintf("t%d", n)] = slices.Clone(guards)
		guard(5, "preconditions: [test G]", "preconditions: [{sh: test G, msg: no}]", "preconditions: {sh: test G}", "preconditions: [[test G]]", "preconditions: [{msg: G}]")
		guard(6, "status: [test G]", "status: test G", "status: [[test G]]", "status: {a: G}")
		guard(20, "if: G", "platforms: [G]", "requires: [G]", "requires: {vars: [{name: A, enum: {a: G}}]}")
		var before []string
		if n > 0 && s.OneIn(3) {
			other := s.IntN(n)
			s.Write("    deps: [t%d]\n", other)
			before = append(before, done[other]...)
		}
		if s.OneIn(6) {
			s.Write("    %s\n", s.Pick("silent: true", "silent: {a: 1}", "desc: x", "dir: sub", "dir: [sub]", "env: {A: b}"))
		}
		before = append(before, guards...)
		s.Write("    cmds:\n")
		for range 1 + s.IntN(4) {
			switch other := s.IntN(n + 1); {
			case other < n && s.OneIn(3):
				s.Write("      - {task: t%d%s}\n", other, s.Pick("", "", "", ", ignore_error: false", ", vars: [A]"))
				before = append(before, done[other]...)
			case s.OneIn(5):
				s.Write("      - {defer: echo %s}\n", s.Command(before))
			default:
				c := s.Command(before)
				shape := s.Pick("echo C", "echo C", "echo C", "echo C", "echo C", "echo C", "{cmd: echo C}", "{cmd: echo C, ignore_error: true}", "{cmd: echo C, ignore_error: [true]}", "{cmd: [echo C]}")
				s.Write("      - %s\n", strings.ReplaceAll(shape, "C", c))
				if !strings.Contains(shape, "ignore_error: true") {
					before = append(before, c)
				}
			}
		}
		done = append(done, importtest.OnlyCommands(before))
	}
}
