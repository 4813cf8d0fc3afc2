package github_test

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
		{"jobs: {a: {timeout-minutes: 0.001, steps: [{run: echo GUARDED}]}}\n", "timeout-minutes is less than a second", ""},
		{"strange: x\njobs: {a: {steps: [{run: echo GUARDED}]}}\n", "flowrun has no counterpart for strange", ""},
		{"on: {workflow_dispatch: {inputs: {to: {type: choice, options: [dev, prod]}}}}\njobs: {a: {steps: [{run: 'echo GUARDED ${{ inputs.to }}'}]}}\n", "its type is text", "default: dev\n    validation:\n      enum: [dev, prod]"},
		{"on: {workflow_dispatch: {inputs: {to: {type: boolean, required: true}}}}\njobs: {a: {steps: [{run: 'echo GUARDED ${{ inputs.to }}'}]}}\n", "its type is text", "required: true\n    validation:\n      enum: [\"false\", \"true\"]"},
		{"jobs: {a: {outputs: {x: y}, steps: [{run: echo a}]}, b: {needs: a, steps: [{run: 'echo GUARDED ${{ needs.a.outputs.x }}'}]}}\n", "needs.a.outputs.x", ""},
	})
}

func TestGuards(t *testing.T) { importtest.Guards(t, read, source) }

// source writes a random file.
func source(s *importtest.Source) {
	s.Write("on: {workflow_dispatch: {inputs: {to: {default: x}}}}\njobs:\n")
	var done [][]string
	for n := range 4 {
		s.Write("  j%d:\n", n)
		var guards []string
		guard := func(chance int, shapes ...string) {
			if s.OneIn(chance) {
				g := s.Word("guard")
				guards = append(guards, g)
				s.Write("    %s\n", strings.ReplaceAll(s.Pick(shapes...), "G", g))
			}
		}
		if n > 0 && s.OneIn(2) {
			other := s.IntN(n)
			guards = append(guards, done[other]...)
			s.Write("    needs: %s\n", s.Pick(fmt.Sprintf("j%d", other), fmt.Sprintf("[j%d]", other)))
		}
		guard(5, "if: inputs.to == 'G'", "if: github.ref == 'G'", "if: [G]")
		guard(4, "container: G", "container: {image: G}", "container: [G]", "container: {image: [G]}", "container: {image: G, options: --cpus 1}")
		guard(12, "environment: G", "environment: {name: G}", "strange: G")
		if s.OneIn(8) {
			s.Write("    %s\n", s.Pick("services: {db: {image: x}}", "continue-on-error: '${{ x }}'", "timeout-minutes: 5", "permissions: {contents: read}"))
		}
		s.Write("    steps:\n      - uses: %s\n", s.Pick("actions/checkout@v4", "actions/setup-go@v5"))
		before := slices.Clone(guards)
		for range 1 + s.IntN(4) {
			switch {
			case s.OneIn(9):
				g := s.Word("guard")
				s.Write("      - uses: verify/%s@v1\n", g)
				before = append(before, g)
			case s.OneIn(8):
				s.Write("      - {uses: alarm/alarm@v1, if: failure()}\n")
			default:
				own := slices.Clone(before)
				line := ""
				if s.OneIn(5) {
					g := s.Word("guard")
					own = append(own, g)
					line = ", " + strings.ReplaceAll(s.Pick("if: inputs.to == 'G'", "if: \"inputs.to != 'G'\"", "if: github.ref == 'G'", "if: [G]"), "G", g)
				} else if s.OneIn(6) {
					line = s.Pick(", shell: [bash]", ", continue-on-error: [true]", ", strange: x", ", timeout-minutes: 5")
				}
				c := s.Command(own)
				s.Write("      - {run: echo %s%s%s}\n", c, s.Pick("", "", "", " >> $GITHUB_ENV"), line)
				before = append(before, c)
			}
		}
		done = append(done, importtest.OnlyCommands(before))
	}
}
