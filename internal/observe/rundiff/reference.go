package rundiff

import (
	"context"
	"fmt"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// Store has the runs that Reference chooses from.
type Store interface {
	Runs(ctx context.Context, q history.Query) ([]history.RunInfo, error)
	Record(ctx context.Context, id string) (*history.Record, error)
}

// NoReferenceError means that no run before a run can be compared with it.
type NoReferenceError struct{ Run, Tool string }

func (e *NoReferenceError) Error() string {
	return fmt.Sprintf("no run of %s before run %s succeeded; name the run to compare it with", e.Tool, e.Run)
}

// Unwrap returns history.ErrNoRun.
func (e *NoReferenceError) Unwrap() error { return history.ErrNoRun }

// maxCandidates is how many successful runs of a tool Reference looks at.
const maxCandidates = 200

// Reference returns the id of the last run before the given one that succeeded and did the same: of the same tool,
// from the same file, limited to the same steps. Error: a *NoReferenceError.
func Reference(ctx context.Context, s Store, run *history.Record) (string, error) {
	list, err := s.Runs(ctx, history.Query{Tool: run.Tool, Status: []dag.Status{dag.Succeeded}, Before: run.ID, Limit: maxCandidates})
	if err != nil {
		return "", err
	}
	for _, info := range list {
		r, err := s.Record(ctx, info.ID)
		if err != nil {
			return "", err
		}
		if fileOf(r) == fileOf(run) && r.Only == run.Only && r.WithoutUpstream == run.WithoutUpstream {
			return info.ID, nil
		}
	}
	return "", &NoReferenceError{run.ID, run.Tool}
}

// fileOf returns the file of the tool of a run, "" if it has none.
func fileOf(r *history.Record) string {
	if len(r.Sources) == 0 {
		return ""
	}
	return r.Sources[0].File
}
