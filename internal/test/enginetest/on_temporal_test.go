package enginetest

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
)

// onTemporal are definitions for which the page of Temporal says that they are refused, by the beginning of their row there, and
// ones beside them that are not. Each has the beginning of the only problem; "" for none.
var onTemporal = map[string][]struct{ definition, problem string }{
	"| several slots, a priority or a rate of a [pool](#pools) that the settings do not have": {
		{"steps: [{name: a, pool: gpu, run: echo}]", ""},
		{"pool: gpu\nrun: echo", ""},
		{"steps: [{name: a, pool: gpu, locks: [db], run: echo}]", ""},
		{"steps: [{name: a, pool: {name: db, slots: 2}, priority: 3, run: echo}]", ""},
		{"steps: [{name: a, pool: paced, run: echo}]", ""},
		{"steps: [{name: a, locks: [db], priority: 3, run: echo}]", ""},
		{"steps: [{name: a, pool: {name: db, slots: 3}, run: echo}]", "step a wants 3 slots of pool db, which has 2 in the settings"},
		{"steps: [{name: a, pool: {name: gpu, slots: 2}, run: echo}]", "step a wants 2 slots of pool gpu, and the settings do not say how many it has"},
		{"steps: [{name: g, steps: [{name: a, pool: {name: gpu, slots: 2}, run: echo}]}]", "step g/a wants 2 slots of pool gpu"},
		{"steps: [{name: a, pool: gpu, priority: 3, run: echo}]", "step a has a priority, and the settings do not say how many slots pool gpu has"},
	},
	"| a step with a [`container`](containers.md)": {
		{"steps: [{name: a, container: {image: \"docker.io/library/alpine:3.20\"}, run: echo}]", "step a has a container, which workers do not start"},
		{"steps: [{name: g, steps: [{name: a, container: {image: \"docker.io/library/alpine:3.20\"}, run: echo}]}]", "step g/a has a container"},
		{"security: {isolation: container}\nbash: echo", ""},
	},
	"| [retries of whole runs](retry-run.md)": {
		{"retry-run: {attempts: 1, on: [exit]}\nsteps: [{name: a, bash: echo}]", "the tool has retry-run, and workers do not retry runs"},
		{"error-handling: {retry: {attempts: 2}}\nbash: echo", ""},
	},
	"| a [`repeat`](polling.md) with `timeout` and less than a second between two rounds": {
		{`steps: [{name: g, steps: [{name: a, run: echo, repeat: {until: "{a.exit-code} == 1", every: 300ms, timeout: 1s}}]}]`, "step g/a repeats for a limited time with less than a second between two rounds"},
		{`steps: [{name: a, run: echo, repeat: {until: "{a.exit-code} == 1", every: 300ms, max: 3}}]`, ""},
		{`steps: [{name: a, run: echo, repeat: {until: "{a.exit-code} == 1", every: 1s, timeout: 1m}}]`, ""},
	},
	"": { // what was refused once
		{"locks: [db]\nrun: echo", ""},
		{"max-active-runs: 1\nrun: echo", ""},
		{"state: {count: {type: integer, default: 0}}\nrun: echo", ""},
		{"steps: [{name: a, run: echo, artifacts: [a.txt]}]", ""},
		{"steps: [{name: a, ssh: web1, bash: echo}]", ""},
	},
}

// TestNotOnTemporal: what the page says is refused on Temporal is reported, each with what to do instead, and nothing else.
func TestNotOnTemporal(t *testing.T) {
	page, err := os.ReadFile("docs/reference/temporal.md")
	if err != nil {
		t.Fatal(err)
	}
	_, limits, _ := strings.Cut(string(page), "\n## Limits\n")
	for line := range strings.Lines(limits) {
		if row, _, refused := strings.Cut(line, ": refused |"); refused && onTemporal[row] == nil {
			t.Errorf("no definition shows %s", row)
		}
	}
	settings := map[string]history.Pool{"db": {Slots: 2}, "paced": {Slots: 4, Rate: history.Rate{N: 10, Per: time.Minute}}}
	for row, list := range onTemporal {
		if !strings.Contains(limits, row) {
			t.Errorf("the page does not say %s", row)
		}
		for _, c := range list {
			found := engine.NotOnTemporal(compile(t, t.TempDir(), "name: t\ndescription: T\n"+c.definition), settings)
			switch {
			case c.problem == "" && len(found) > 0:
				t.Errorf("%s: %v", c.definition, found)
			case c.problem != "" && (len(found) != 1 || !strings.HasPrefix(found[0].Message, c.problem) || found[0].Hint == "" || found[0].Pos.Line == 0):
				t.Errorf("%s: %v, want %s", c.definition, found, c.problem)
			}
		}
	}
}
