package flowrun

import (
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/tool"
)

// ErrNeverBegan is why a run cannot be resumed or retried that failed before its first
// step could start: nothing is known of what it would have done.
var ErrNeverBegan = errors.New("the run could not begin: there is nothing to go on with; start a new one")

// unbegun is the plan of a run that could not begin, which has no steps.
func (r *Record) unbegun() *compiledPlan {
	graph, _ := dag.New(nil, dag.Settings{}) // cannot fail without nodes
	return &compiledPlan{Definition: &tool.Definition{Name: r.Tool}, graph: graph}
}

// begun is an error for a run that never began.
func (p *Past) begun(verb string) error {
	if p.Record.Unbegun {
		return fmt.Errorf("cannot %s run %s: %w", verb, p.Record.ID, ErrNeverBegan)
	}
	return nil
}
