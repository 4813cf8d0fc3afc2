package runstats

import (
	"cmp"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// Grid has a row for each step and a column for each run.
type Grid struct {
	Runs  []GridRun `json:"runs"` // newest first
	Steps []*Row    `json:"steps"`

	rows map[string]*Row
}

// GridRun is a column.
type GridRun struct {
	ID       string     `json:"id"`
	Status   dag.Status `json:"status"`
	Started  time.Time  `json:"started"`
	Duration int64      `json:"duration_ms"`
}

// Row is a step and how it ended in each run: "" if the run did not reach it. For a step inside
// a loop, it is the worst result of all items.
type Row struct {
	Name   string   `json:"name"`
	States []string `json:"states"`
}

func newGrid(runs int) *Grid {
	return &Grid{Runs: make([]GridRun, runs), Steps: []*Row{}, rows: map[string]*Row{}}
}

// set notes how a step ended in run i.
func (g *Grid) set(i int, name string, st dag.Status, node dag.ID) {
	row := g.rows[name]
	if row == nil {
		row = &Row{Name: name, States: make([]string, len(g.Runs))}
		g.rows[name] = row
		g.Steps = append(g.Steps, row)
	}
	inLoop := node.WithoutAttempts() != node.WithoutKeys()
	if !inLoop || severity(st.String()) > severity(row.States[i]) {
		row.States[i] = st.String()
	}
}

// bySeverity are the states of steps that have ended, worst last.
var bySeverity = []string{"", "skipped", "reused", "succeeded", "cancelled", "interrupted", "timed-out", "failed"}

func severity(state string) int { return slices.Index(bySeverity, state) }

// Sort puts the rows in the order of names. Steps that it does not have, because the definition
// has changed, come last.
func (g *Grid) Sort(names []string) {
	rank := map[string]int{}
	for i, name := range names {
		rank[name] = i - len(names)
	}
	slices.SortStableFunc(g.Steps, func(a, b *Row) int { return cmp.Compare(rank[a.Name], rank[b.Name]) })
}
