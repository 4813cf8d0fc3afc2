package flowrun

import (
	"errors"
	"fmt"
)

// ErrNeverBegan is why a run cannot be resumed or retried that failed before its first
// step could start: nothing is known of what it would have done.
var ErrNeverBegan = errors.New("the run could not begin: there is nothing to go on with; start a new one")

// begun is an error for a run that never began.
func (p *Past) begun(verb string) error {
	if p.Record.Unbegun {
		return fmt.Errorf("cannot %s run %s: %w", verb, p.Record.ID, ErrNeverBegan)
	}
	return nil
}
