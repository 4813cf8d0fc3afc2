package importer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/importer"
)

// source is a generated file and what guards each of its commands. Commands and guards are words that occur once.
type source struct {
	*rand.Rand
	words  int
	text   strings.Builder
	guards map[string][]string
	tools  map[string][]string // what guards all commands of a tool, also those of others that it calls
}

func (s *source) word(kind string) string {
	s.words++
	return fmt.Sprintf("%s%04d", kind, s.words)
}

func (s *source) write(format string, args ...any) { fmt.Fprintf(&s.text, format, args...) }

// oneIn is true once in n times.
func (s *source) oneIn(n int) bool { return s.IntN(n) == 0 }

// command returns a new command with its guards.
func (s *source) command(guards []string) string {
	c := s.word("cmd")
	s.guards[c] = slices.Clone(guards)
	return c
}

// TestGuards imports random files: no command of a definition has fewer guards than in its file. A guard is a question, a
// check, a condition, a container, or a command that must succeed before. Crontabs have none.
func TestGuards(t *testing.T) {
	for _, format := range []struct {
		name  string
		write func(*source)
		least int // commands that are written, so that the test is not empty
	}{
		{"taskfile", taskfileSource, 500}, {"dagu", daguSource, 500}, {"github", githubSource, 500}, {"make", makeSource, 500}, {"just", justSource, 500},
	} {
		t.Run(format.name, func(t *testing.T) {
			found := 0
			for seed := range uint64(400) {
				s := &source{Rand: rand.New(rand.NewPCG(seed, 1)), guards: map[string][]string{}, tools: map[string][]string{}}
				format.write(s)
				r, err := read(format.name, s.text.String())
				if err != nil {
					continue
				}
				for _, one := range r.Tools {
					found += checkGuards(t, s, one)
				}
				if t.Failed() {
					t.Fatalf("seed %d:\n%s\n%+v", seed, s.text.String(), r.Rows)
				}
			}
			if found < format.least {
				t.Errorf("only %d commands were written", found)
			}
		})
	}
}

// checkGuards compares the guards of each command of a tool with those of its file. It returns how many commands there are.
func checkGuards(t *testing.T, s *source, one *importer.Tool) (commands int) {
	t.Helper()
	visitSteps(one.Steps, "", func(step *importer.Step, before string) {
		for line := range strings.Lines(step.Script) {
			for _, word := range strings.Fields(line) {
				guards, known := s.guards[word]
				if !known {
					continue
				}
				commands++
				for _, g := range slices.Concat(guards, s.tools[one.Name]) {
					if !strings.Contains(before, g) {
						t.Errorf("in %s, %s runs without its guard %s", one.Name, word, g)
					}
				}
			}
			before += line
		}
	})
	return commands
}

// visitSteps calls visit for each script with the text of everything that must have succeeded or applies when it runs.
func visitSteps(steps []*importer.Step, outer string, visit func(s *importer.Step, before string)) {
	for i, s := range steps {
		before := outer + s.When
		if s.Container != nil {
			before += s.Container.Image
		}
		waits := upstream(steps, i)
		for j, other := range steps {
			inCondition := strings.Contains(s.When, importer.Ref(other.Name+".exit-code"))
			always := strings.Contains(s.When, "always()") || strings.Contains(s.When, "failure()")
			if inCondition || waits[j] && !other.Tolerate && !always {
				before += allText(other)
			}
		}
		if s.Script != "" {
			visit(s, before)
		}
		visitSteps(s.Steps, before, visit)
		visitSteps(s.Finally, before, visit)
	}
}

// upstream are the steps that a step waits for, directly or not.
func upstream(steps []*importer.Step, i int) map[int]bool {
	all := map[int]bool{}
	var direct []int
	first := i
	for steps[first].WaitFor == nil && steps[first].Parallel && first > 0 {
		first--
	}
	for j := range steps {
		if w := steps[first].WaitFor; w == nil && j < first || slices.Contains(w, steps[j].Name) {
			direct = append(direct, j)
		}
	}
	for _, j := range direct {
		all[j] = true
		for k := range upstream(steps, j) {
			all[k] = true
		}
	}
	return all
}

func allText(s *importer.Step) string {
	text := s.Script + "\n" + s.Approve + "\n"
	for _, inner := range append(slices.Clone(s.Steps), s.Finally...) {
		if !inner.Tolerate {
			text += allText(inner)
		}
	}
	return text
}

// pick returns one of some texts.
func (s *source) pick(texts ...string) string { return texts[s.IntN(len(texts))] }

func taskfileSource(s *source) {
	s.write("tasks:\n")
	var done [][]string // the commands of each task, which must succeed
	for n := range 4 {
		s.write("  t%d:\n", n)
		var guards []string
		guard := func(chance int, shapes ...string) {
			if s.oneIn(chance) {
				g := s.word("guard")
				guards = append(guards, g)
				s.write("    %s\n", strings.ReplaceAll(s.pick(shapes...), "G", g))
			}
		}
		guard(4, "prompt: G?", "prompt: [G?]", "prompt: ['', G?]", "prompt: {a: G}")
		s.tools[fmt.Sprintf("t%d", n)] = slices.Clone(guards)
		guard(5, "preconditions: [test G]", "preconditions: [{sh: test G, msg: no}]", "preconditions: {sh: test G}", "preconditions: [[test G]]", "preconditions: [{msg: G}]")
		guard(6, "status: [test G]", "status: test G", "status: [[test G]]", "status: {a: G}")
		guard(20, "if: G", "platforms: [G]", "requires: [G]", "requires: {vars: [{name: A, enum: {a: G}}]}")
		var before []string
		if n > 0 && s.oneIn(3) {
			other := s.IntN(n)
			s.write("    deps: [t%d]\n", other)
			before = append(before, done[other]...)
		}
		if s.oneIn(6) {
			s.write("    %s\n", s.pick("silent: true", "silent: {a: 1}", "desc: x", "dir: sub", "dir: [sub]", "env: {A: b}"))
		}
		before = append(before, guards...)
		s.write("    cmds:\n")
		for range 1 + s.IntN(4) {
			switch other := s.IntN(n + 1); {
			case other < n && s.oneIn(3):
				s.write("      - {task: t%d%s}\n", other, s.pick("", "", "", ", ignore_error: false", ", vars: [A]"))
				before = append(before, done[other]...)
			case s.oneIn(5):
				s.write("      - {defer: echo %s}\n", s.command(before))
			default:
				c := s.command(before)
				shape := s.pick("echo C", "echo C", "echo C", "echo C", "echo C", "echo C", "{cmd: echo C}", "{cmd: echo C, ignore_error: true}", "{cmd: echo C, ignore_error: [true]}", "{cmd: [echo C]}")
				s.write("      - %s\n", strings.ReplaceAll(shape, "C", c))
				if !strings.Contains(shape, "ignore_error: true") {
					before = append(before, c)
				}
			}
		}
		done = append(done, onlyCommands(before))
	}
}

// onlyCommands are the words that are commands: a guard of a job or a task is not one of those that wait for it.
func onlyCommands(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.HasPrefix(w, "guard") })
}

func daguSource(s *source) {
	kind := s.pick("", "chain", "graph")
	if kind != "" {
		s.write("type: %s\n", kind)
	}
	s.write("params: P=x\n")
	if s.oneIn(15) {
		s.write("preconditions: [{condition: $P, expected: never}]\n")
		defer func() {
			for c := range s.guards {
				s.guards[c] = append(s.guards[c], "never")
			}
		}()
	}
	s.write("steps:\n")
	var done [][]string
	for n := range 5 {
		var guards []string
		line := ""
		switch {
		case n > 0 && (kind == "graph" || s.oneIn(3)):
			other := s.IntN(n)
			guards = append(guards, done[other]...)
			line += fmt.Sprintf(", depends: [s%d]", other)
		case kind == "chain" && n > 0:
			guards = append(guards, done[n-1]...)
		}
		if s.oneIn(4) {
			g := s.word("guard")
			guards = append(guards, g)
			line += ", " + strings.ReplaceAll(s.pick("preconditions: [{condition: $P, expected: G}]", "preconditions: [{condition: $P, expected: G}]",
				"preconditions: {condition: $P, expected: G}", "preconditions: [test G]", "preconditions: [{condition: $P, expected: [G]}]", "executor: G"), "G", g)
		}
		c := s.command(guards)
		mine := append(slices.Clone(guards), c)
		if s.oneIn(8) {
			line += ", continueOn: {failure: true}"
			mine = guards
		} else if s.oneIn(8) {
			line += s.pick(", continueOn: [failure]", ", timeoutSec: [5]", ", shell: fish", ", dir: {a: b}")
		}
		s.write("  - {name: s%d, command: echo %s%s}\n", n, c, line)
		done = append(done, mine)
	}
}

func githubSource(s *source) {
	s.write("on: {workflow_dispatch: {inputs: {to: {default: x}}}}\njobs:\n")
	var done [][]string
	for n := range 4 {
		s.write("  j%d:\n", n)
		var guards []string
		guard := func(chance int, shapes ...string) {
			if s.oneIn(chance) {
				g := s.word("guard")
				guards = append(guards, g)
				s.write("    %s\n", strings.ReplaceAll(s.pick(shapes...), "G", g))
			}
		}
		if n > 0 && s.oneIn(2) {
			other := s.IntN(n)
			guards = append(guards, done[other]...)
			s.write("    needs: %s\n", s.pick(fmt.Sprintf("j%d", other), fmt.Sprintf("[j%d]", other)))
		}
		guard(5, "if: inputs.to == 'G'", "if: github.ref == 'G'", "if: [G]")
		guard(4, "container: G", "container: {image: G}", "container: [G]", "container: {image: [G]}", "container: {image: G, options: --cpus 1}")
		guard(12, "environment: G", "environment: {name: G}", "strange: G")
		if s.oneIn(8) {
			s.write("    %s\n", s.pick("services: {db: {image: x}}", "continue-on-error: '${{ x }}'", "timeout-minutes: 5", "permissions: {contents: read}"))
		}
		s.write("    steps:\n      - uses: %s\n", s.pick("actions/checkout@v4", "actions/setup-go@v5"))
		before := slices.Clone(guards)
		for range 1 + s.IntN(4) {
			switch {
			case s.oneIn(9):
				g := s.word("guard")
				s.write("      - uses: verify/%s@v1\n", g)
				before = append(before, g)
			case s.oneIn(8):
				s.write("      - {uses: alarm/alarm@v1, if: failure()}\n")
			default:
				own := slices.Clone(before)
				line := ""
				if s.oneIn(5) {
					g := s.word("guard")
					own = append(own, g)
					line = ", " + strings.ReplaceAll(s.pick("if: inputs.to == 'G'", "if: \"inputs.to != 'G'\"", "if: github.ref == 'G'", "if: [G]"), "G", g)
				} else if s.oneIn(6) {
					line = s.pick(", shell: [bash]", ", continue-on-error: [true]", ", strange: x", ", timeout-minutes: 5")
				}
				c := s.command(own)
				s.write("      - {run: echo %s%s%s}\n", c, s.pick("", "", "", " >> $GITHUB_ENV"), line)
				before = append(before, c)
			}
		}
		done = append(done, onlyCommands(before))
	}
}

func makeSource(s *source) {
	if s.oneIn(8) {
		s.write("%s\n", s.pick("include other.mk", "-include .env", "$(info x)"))
	}
	s.write(".PHONY: t0 t1 t2 t3\n")
	var done [][]string
	for n := range 4 {
		var guards, needs []string
		for range s.IntN(3) {
			if n > 0 && s.oneIn(2) {
				other := s.IntN(n)
				needs = append(needs, fmt.Sprintf("t%d", other))
				guards = append(guards, done[other]...)
			} else if s.oneIn(3) {
				g := s.word("guard")
				needs = append(needs, s.pick("", "$(UNKNOWN)")+g)
				guards = append(guards, g)
			}
		}
		s.write("t%d: %s\n", n, strings.Join(needs, " "))
		for range 1 + s.IntN(3) {
			c := s.command(guards)
			ignore := s.oneIn(5)
			s.write("\t%secho %s %s\n", map[bool]string{true: "-"}[ignore], c, s.pick("", "", "", "", "$(shell x)"))
			if !ignore {
				guards = append(guards, c)
			}
		}
		done = append(done, guards)
	}
}

func justSource(s *source) {
	var done [][]string
	for n := range 4 {
		var guards []string
		if s.oneIn(4) {
			g := s.word("guard")
			guards = append(guards, g)
			s.write("[%s]\n", strings.ReplaceAll(s.pick("confirm('G?')", "confirm(\"G\")", "confirm: 'G'", "strange('G')"), "G", g))
		}
		s.tools[fmt.Sprintf("r%d", n)] = guards
		var needs []string
		own := slices.Clone(guards)
		if n > 0 && s.oneIn(2) {
			other := s.IntN(n)
			needs = append(needs, fmt.Sprintf("r%d", other))
			own = append(own, done[other]...)
		}
		s.write("r%d: %s\n", n, strings.Join(needs, " "))
		for range 1 + s.IntN(3) {
			c := s.command(own)
			ignore := s.oneIn(5)
			s.write("  %secho %s %s\n", map[bool]string{true: "-"}[ignore], c, s.pick("", "", "", "", "{{`x`}}"))
			if !ignore {
				own = append(own, c)
			}
		}
		s.write("\n")
		done = append(done, own)
	}
}
