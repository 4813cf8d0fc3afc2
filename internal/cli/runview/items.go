package runview

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/screen/drawing"
)

// MaxItems is how many items of a loop are listed. For a loop with more items, only those
// that did not succeed are listed, up to this number.
const MaxItems = 20

// statusCounts counts steps by status.
type statusCounts map[dag.Status]int

// String returns the counts in words, in the order of statuses: "3 succeeded, 1 failed".
func (s statusCounts) String() string {
	var words []string
	for st := dag.Pending; st <= dag.Interrupted; st++ {
		if n := s[st]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, st))
		}
	}
	return strings.Join(words, ", ")
}

func (s statusCounts) total() (n int) {
	for _, k := range s {
		n += k
	}
	return n
}

// loopOf returns the path of the loop if path is an item of a loop, and "" otherwise.
func loopOf(path string) string {
	if !strings.HasSuffix(path, "]") {
		return ""
	}
	holders := dag.ID(path).Ancestors()
	if len(holders) == 0 {
		return ""
	}
	return string(holders[len(holders)-1])
}

// countItems counts the statuses of the items of each loop.
func countItems(steps []runresult.StepResult) map[string]statusCounts {
	loops := map[string]statusCounts{}
	for _, s := range steps {
		if loop := loopOf(s.ID); loop != "" {
			if loops[loop] == nil {
				loops[loop] = statusCounts{}
			}
			loops[loop][s.Status]++
		}
	}
	return loops
}

// ShownSteps returns the steps to display. For a loop with more than MaxItems items, it shows only
// items that did not succeed, at most most of them; notes then has a summary of the statuses of all
// items.
func ShownSteps(steps []runresult.StepResult, limit int) (shown []runresult.StepResult, notes map[string]string) {
	loops, listed := countItems(steps), map[string]int{}
	notes = map[string]string{}
	for loop, st := range loops {
		if n := st.total(); n > MaxItems {
			notes[loop] = fmt.Sprintf("%d items: %s", n, st)
		}
	}
	hidden := ""
	for _, s := range steps {
		if hidden != "" && hasPathPrefix(s.ID, hidden) {
			continue
		}
		hidden = ""
		if loop := loopOf(s.ID); notes[loop] != "" {
			if listed[loop] == limit || isUnremarkable(s.Status) {
				hidden = s.ID
				continue
			}
			listed[loop]++
		}
		shown = append(shown, s)
	}
	return shown, notes
}

func isUnremarkable(st dag.Status) bool {
	return st == dag.Succeeded || st == dag.Reused || st == dag.Skipped || st == dag.Pending
}

// repeatedCounts counts the statuses of a step that runs more than once because of loops.
type repeatedCounts struct {
	counted statusCounts // of the step's runs; for a loop, of its items
	seen    statusCounts // also counts loops without items
}

// CountByStep counts the states of steps that loops run more than once, by the name of the
// step: the items of a loop, and the steps inside them. A loop inside a loop is not counted
// in addition to its items.
func CountByStep(p *engine.Plan, steps []runresult.StepResult) map[string]repeatedCounts {
	all := map[string]repeatedCounts{}
	for _, s := range steps {
		if !strings.Contains(s.ID, "[") {
			continue
		}
		name := string(dag.ID(s.ID).WithoutKeys())
		t, known := all[name]
		if !known {
			t = repeatedCounts{statusCounts{}, statusCounts{}}
			all[name] = t
		}
		t.seen[s.Status]++
		if def := p.Step(name); loopOf(s.ID) != "" || def == nil || def.Loop == nil {
			t.counted[s.Status]++
		}
	}
	return all
}

// statusPriority lists statuses from the most to the least important. A box that represents several
// steps shows the first of these statuses that occurs.
var statusPriority = []dag.Status{dag.Failed, dag.TimedOut, dag.Interrupted, dag.Running, dag.Retrying, dag.Waiting, dag.Cancelled, dag.Succeeded, dag.Reused, dag.Skipped}

// MarkLoops adds the states of loop items to a drawing.
func MarkLoops(boxes []drawing.Box, all map[string]repeatedCounts) {
	for i := range boxes {
		b := &boxes[i]
		t := all[b.ID]
		if len(t.counted) > 0 {
			b.Note = strings.TrimPrefix(b.Note+": "+t.counted.String(), ": ")
		}
		for _, s := range statusPriority {
			if b.Status == dag.Pending && t.seen[s] > 0 {
				b.Status = s
			}
		}
		MarkLoops(b.Inside, all)
	}
}
