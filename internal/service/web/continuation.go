package web

import (
	"context"
	"net/http"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
)

// continuationHandlers answer requests to resume and retry runs.
type continuationHandlers struct {
	history History
	control Control
	bodies  *bodyReader
}

func (h continuationHandlers) routes() []route {
	return []route{
		{method: "GET", path: "/api/v1/runs/{id}/resume", id: "previewResume", summary: "Show what resuming a run would do",
			answers: []answer{{200, "The steps by what happens to them.", "", "continuation"}},
			handle: func(w http.ResponseWriter, r *http.Request) error {
				return h.preview(w, r, h.control.PreviewResume)
			}},
		{method: "POST", path: "/api/v1/runs/{id}/resume", id: "resumeRun", continuesRun: true, summary: "Resume a run that failed or was interrupted",
			body: "nothing", answers: []answer{{202, "The run is resumed.", "", "started"}}, handle: h.resumeRun},
		{method: "GET", path: "/api/v1/runs/{id}/retry", id: "previewRetry", summary: "Show what retrying a run would do",
			query:   []param{{name: "from", kind: "string", doc: "Path of a step to run again, whatever its status, together with all downstream steps. May be repeated.", many: true}},
			answers: []answer{{200, "The steps by what happens to them.", "", "continuation"}},
			handle: func(w http.ResponseWriter, r *http.Request) error {
				return h.preview(w, r, func(ctx context.Context, id string) (*engine.Continuation, error) {
					return h.control.PreviewRetry(ctx, id, r.URL.Query()["from"])
				})
			}},
		{method: "POST", path: "/api/v1/runs/{id}/retry", id: "retryRun", continuesRun: true, summary: "Start a new run that reuses the successful steps of this one",
			body: "retry", answers: []answer{accepted}, handle: h.retryRun},
	}
}

// continuation shows what resuming or retrying a run would do. Each list has the paths of steps.
type continuation struct {
	Keeps   []dag.ID  `json:"keeps"`
	Again   []dag.ID  `json:"again"`
	First   []dag.ID  `json:"first"`
	Waiting []dag.ID  `json:"waiting"`
	Held    []dag.ID  `json:"held"`
	Asks    []dag.ID  `json:"asks"`
	Lost    []dag.ID  `json:"lost"`
	Cleaned []cleaned `json:"cleaned"`
}

// cleaned is a step whose result is kept although another step may have undone its work.
type cleaned struct {
	Step dag.ID `json:"step"`
	By   dag.ID `json:"by"`
}

func (h continuationHandlers) preview(w http.ResponseWriter, r *http.Request, plan func(context.Context, string) (*engine.Continuation, error)) error {
	g, err := plan(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	doc := continuation{Keeps: nonNil(g.Kept), Again: nonNil(g.Reset), First: nonNil(g.Left), Waiting: nonNil(g.Waiting), Held: nonNil(g.Held), Asks: nonNil(g.Asks), Lost: nonNil(g.Lost()), Cleaned: []cleaned{}}
	for _, c := range g.Cleaned {
		doc.Cleaned = append(doc.Cleaned, cleaned(c))
	}
	return writeJSON(w, 200, doc)
}

func (h continuationHandlers) resumeRun(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if err := h.bodies.readFields(w, r); err != nil {
		return err
	}
	info, err := h.history.Info(r.Context(), id)
	switch {
	case err != nil:
		return err
	case info.Status == dag.Succeeded:
		return refuse(409, "finished", "the run succeeded, so there is nothing to resume", "POST /api/v1/runs starts a new one")
	}
	if err := h.control.Resume(context.WithoutCancel(r.Context()), id); err != nil {
		return err
	}
	return accept(w, id)
}

func (h continuationHandlers) retryRun(w http.ResponseWriter, r *http.Request) error {
	var from []string
	if err := h.bodies.readFields(w, r, bodyField{"from", &from}); err != nil {
		return err
	}
	retry, err := h.control.Retry(context.WithoutCancel(r.Context()), r.PathValue("id"), from)
	if err != nil {
		return err
	}
	return accept(w, retry)
}
