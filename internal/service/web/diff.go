package web

import (
	"net/http"

	"github.com/flowrun/flowrun/internal/observe/rundiff"
)

// diffHandlers answer requests that compare runs.
type diffHandlers struct {
	history  History
	runs     Runs
	stateDir string
}

func (h diffHandlers) routes() []route {
	return []route{
		{method: "GET", path: "/api/v1/runs/{id}/diff", id: "diffRuns", summary: "Compare a run with another one",
			doc: "Without `with`, the run is compared with the last run before it that succeeded, of the same tool and file; 404 if there is none. " +
				"`before` is the run that started first, whichever of the two that is.",
			query:   []param{{name: "with", kind: "string", doc: "The id of the other run."}},
			answers: []answer{{200, "What differs.", "", "run-diff"}}, handle: h.diff},
	}
}

// diff compares two runs. The guard has checked that the caller may see both.
func (h diffHandlers) diff(w http.ResponseWriter, r *http.Request) error {
	run, err := h.runs.RecordedRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	with := r.URL.Query().Get("with")
	if with == "" {
		if with, err = rundiff.Reference(r.Context(), h.history, run.Record); err != nil {
			return err
		}
	}
	other, err := h.runs.RecordedRun(r.Context(), with)
	if err != nil {
		return err
	}
	d, err := rundiff.Of(h.stateDir, other, run)
	if err != nil {
		return err
	}
	return writeJSON(w, 200, d)
}
