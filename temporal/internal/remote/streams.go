package remote

import (
	"context"
	"fmt"

	"github.com/flowrun/flowrun/dag"
)

// Texts makes the stored output of a step a local file.
type Texts interface {
	Fetch(ctx context.Context, o *dag.Output) error
}

// FetchStreams makes the streams of a result local files. What cannot be fetched is reported with its step, and then has only
// its beginning, so that everything else of the run can be shown.
func FetchStreams(ctx context.Context, texts Texts, e *dag.Event, report func(error)) {
	if e.Result == nil {
		return
	}
	for _, s := range []struct {
		name string
		*dag.Output
	}{{"output", e.Result.Stdout}, {"standard error", e.Result.Stderr}} {
		if s.Output == nil {
			continue
		}
		err := texts.Fetch(ctx, s.Output)
		if err == nil {
			continue
		}
		s.File, s.Truncated = "", true
		if e.Node != "" { // the output of the run is that of a step
			report(fmt.Errorf("only the beginning of the %s of step %s is known: %w", s.name, e.Node, err))
		}
	}
}
