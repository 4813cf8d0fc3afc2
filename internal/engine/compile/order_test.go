package compile_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/plan"
)

// TestEdges compares the steps that each step waits for, itself or through joins, with the plain definition of them, in
// random definitions. A failure passes through a join and not through a step that ran in spite of it, so the same steps
// decide whether a step may run.
func TestEdges(t *testing.T) {
	dir := t.TempDir()
	for seed := range uint64(200) {
		text := randomOrder(rand.New(rand.NewPCG(seed, 1)))
		p, err := compileIn(dir, define(t, dir, "order", text))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if diff := cmp.Diff(plainEdges(p.Steps), withoutJoins(p.Steps)); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s\n%s", seed, diff, text)
		}
	}
}

// randomOrder returns a definition whose steps wait for others in all ways, also for some further below.
func randomOrder(r *rand.Rand) string {
	lines := make([]string, 2+r.IntN(9))
	for i := range lines {
		some := func(text string) (list []string) {
			for range r.IntN(min(i, 2) + 1) {
				list = append(list, fmt.Sprintf(text, r.IntN(i)))
			}
			return list
		}
		keys := ""
		switch r.IntN(5) {
		case 0, 1:
			keys = ", parallel: true"
		case 2:
			waitFor := some("s%d")
			slices.Sort(waitFor)
			keys = fmt.Sprintf(", wait-for: [%s]", strings.Join(slices.Compact(waitFor), ", "))
		}
		if r.IntN(4) == 0 {
			keys += fmt.Sprintf(", on-failure: [{name: h%d, run: 'true'}]", i)
		}
		lines[i] = fmt.Sprintf("  - {name: s%d, bash: 'echo %s'%s}\n", i, strings.Join(some("{s%d.output}"), " "), keys)
	}
	if i := r.IntN(len(lines)); i > 0 {
		lines[0], lines[i] = lines[i], lines[0]
	}
	return "steps:\n" + strings.Join(lines, "")
}

// plainEdges returns by step what it waits for, as the doc comment of order and docs/reference/steps.md define it.
func plainEdges(steps []*plan.Step) map[string][]string {
	edges := map[string][]string{}
	var before, previous []string
	for _, s := range steps {
		name := s.Def.Name
		if s.Handler != nil {
			before = append(before, name)
			continue
		}
		waits := slices.Clone(before)
		switch {
		case s.Def.HasWaitFor:
			waits = nil
		case s.Def.Parallel:
			waits = slices.Clone(previous)
		}
		for _, up := range s.Def.WaitFor {
			waits = append(waits, up.S)
		}
		for word := range strings.FieldsSeq(s.Def.Command().S) {
			if up, isRef := strings.CutSuffix(strings.TrimPrefix(word, "{"), ".output}"); isRef {
				waits = append(waits, up)
			}
		}
		slices.Sort(waits)
		previous = slices.Compact(waits)
		edges[name], before = append([]string{}, previous...), append(before, name)
	}
	return edges
}

// withoutJoins returns the same, of what has been compiled.
func withoutJoins(steps []*plan.Step) map[string][]string {
	joins, edges := map[dag.ID][]dag.ID{}, map[string][]string{}
	for _, s := range steps {
		if s.Join != nil {
			joins[s.Join.ID] = s.Join.After
		}
		if s.Handler != nil {
			continue
		}
		found := map[string]bool{}
		for rest := slices.Clone(s.After); len(rest) > 0; rest = rest[1:] {
			if members, is := joins[rest[0]]; is {
				rest = append(rest, members...)
			} else {
				found[string(rest[0])] = true
			}
		}
		edges[s.Def.Name] = append([]string{}, slices.Sorted(maps.Keys(found))...)
	}
	return edges
}
