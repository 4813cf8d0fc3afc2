package runresult

import (
	"context"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/output"
)

// WholeStreams is a journal that records short outputs without a log file: it removes a log once the events that have all
// of its text are recorded. A process that is killed before leaves the log, or the events, or both.
type WholeStreams struct {
	dag.Journal
	Logs string // folder of the run's logs
}

// Append implements dag.Journal.
func (j WholeStreams) Append(ctx context.Context, events []dag.Event) error {
	var spare []string
	for i := range events {
		r := events[i].Result
		if r == nil || !j.needless(r.Stdout) && !j.needless(r.Stderr) {
			continue
		}
		bare := *r
		for _, o := range []**dag.Output{&bare.Stdout, &bare.Stderr} {
			if j.needless(*o) {
				spare = append(spare, (*o).File)
				without := **o
				without.File = ""
				*o = &without
			}
		}
		events[i].Result = &bare
	}
	err := j.Journal.Append(ctx, events)
	if err == nil {
		for _, log := range spare {
			os.Remove(log)
		}
	}
	return err
}

// needless reports whether an output has a log of this run that tells no more than its result.
func (j WholeStreams) needless(o *dag.Output) bool {
	return o != nil && o.File != "" && o.Whole() && filepath.Dir(o.File) == j.Logs && output.SpareLog(o.File)
}
