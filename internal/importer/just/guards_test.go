package just_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/importtest"
)

// TestWhatNeedsSomethingLeftOut checks what is left out with what it needs.
func TestWhatNeedsSomethingLeftOut(t *testing.T) {
	const recipe = "a:\n  echo GUARDED\n"
	importtest.LeftOut(t, read, []importtest.Guarded{
		{"import 'x.just'\n" + recipe, "import 'x.just' is left out", "GUARDED"},
		{"import? 'x.just'\na:\n  echo GUARDED $V\n", "it reads V, which an imported file may set", ""},
		{"import 'x.just'\na: b\n  echo GUARDED\n", "it needs the recipe b, which is not in the file", ""},
		{"mod x\n" + recipe, "mod x is left out", "GUARDED"},
		{"export V := `date`\na:\n  echo GUARDED $V\n", "it reads V, which is not exported", ""},
		{"export V := `date`\n" + recipe, "the variable V is not exported", "GUARDED"},
		{"[confirm]\na: b\n  echo a\nb:\n  echo GUARDED\n", "its question is an approval", "approve: Run recipe a?\n  - name: b\n    sh: |-\n      set -u\n      echo GUARDED"},
		{"[strange]\nb:\n  echo b\na: b\n  echo GUARDED\n", "it needs b, which is left out: flowrun has no counterpart for [strange]", ""},
		{"v := if env('X', '') == '' { error('X is not set') } else { '' }\n" + recipe, "the variable v can stop just", ""},
		{"v := if env('X', '') == '' {\n  error('X is not set')\n} else {\n  ''\n}\n" + recipe, "the variable v can stop just", ""},
		{"v := assert('a' == 'a', 'no')\n" + recipe, "the variable v can stop just", ""},
	})
}

func TestGuards(t *testing.T) { importtest.Guards(t, read, source) }

// source writes a random file.
func source(s *importtest.Source) {
	var done [][]string
	for n := range 4 {
		var guards []string
		if s.OneIn(4) {
			g := s.Word("guard")
			guards = append(guards, g)
			s.Write("[%s]\n", strings.ReplaceAll(s.Pick("confirm('G?')", "confirm(\"G\")", "confirm: 'G'", "strange('G')"), "G", g))
		}
		s.Tools[fmt.Sprintf("r%d", n)] = guards
		var needs []string
		own := slices.Clone(guards)
		if n > 0 && s.OneIn(2) {
			other := s.IntN(n)
			needs = append(needs, fmt.Sprintf("r%d", other))
			own = append(own, done[other]...)
		}
		s.Write("r%d: %s\n", n, strings.Join(needs, " "))
		for range 1 + s.IntN(3) {
			c := s.Command(own)
			ignore := s.OneIn(5)
			s.Write("  %secho %s %s\n", map[bool]string{true: "-"}[ignore], c, s.Pick("", "", "", "", "{{`x`}}"))
			if !ignore {
				own = append(own, c)
			}
		}
		s.Write("\n")
		done = append(done, own)
	}
}
