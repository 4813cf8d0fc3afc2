package importtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/importer"
)

// Source is a generated file and what guards each of its commands. Commands and guards are words that occur once.
type Source struct {
	*rand.Rand
	Guards map[string][]string
	Tools  map[string][]string // what guards all commands of a tool, also those of others that it calls
	words  int
	text   strings.Builder
}

// Word returns a new word that begins with kind.
func (s *Source) Word(kind string) string {
	s.words++
	return fmt.Sprintf("%s%04d", kind, s.words)
}

// Write adds text to the file.
func (s *Source) Write(format string, args ...any) { fmt.Fprintf(&s.text, format, args...) }

// OneIn is true once in n times.
func (s *Source) OneIn(n int) bool { return s.IntN(n) == 0 }

// Command returns a new command with its guards.
func (s *Source) Command(guards []string) string {
	c := s.Word("cmd")
	s.Guards[c] = slices.Clone(guards)
	return c
}

// Guards reads random files that write makes: no command of a definition has fewer guards than in its file. A guard is a
// question, a check, a condition, a container, or a command that must succeed before.
func Guards(t *testing.T, read Reader, write func(*Source)) {
	const least = 500 // commands that are written, so that the test is not empty
	found := 0
	for seed := range uint64(400) {
		s := &Source{Rand: rand.New(rand.NewPCG(seed, 1)), Guards: map[string][]string{}, Tools: map[string][]string{}}
		write(s)
		r, err := read(s.text.String())
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
	if found < least {
		t.Errorf("only %d commands were written", found)
	}
}

// checkGuards compares the guards of each command of a tool with those of its file. It returns how many commands there are.
func checkGuards(t *testing.T, s *Source, one *importer.Tool) (commands int) {
	t.Helper()
	visitSteps(one.Steps, "", func(step *importer.Step, before string) {
		for line := range strings.Lines(step.Script) {
			for _, word := range strings.Fields(line) {
				guards, known := s.Guards[word]
				if !known {
					continue
				}
				commands++
				for _, g := range slices.Concat(guards, s.Tools[one.Name]) {
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

// Pick returns one of some texts.
func (s *Source) Pick(texts ...string) string { return texts[s.IntN(len(texts))] }

// OnlyCommands are the words that are commands: a guard of a job or a task is not one of those that wait for it.
func OnlyCommands(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.HasPrefix(w, "guard") })
}
