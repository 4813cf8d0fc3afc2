package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/observe/runlog"
)

// originJSON is where lines of a merged log come from.
type originJSON struct {
	Step    string     `json:"step"`
	Attempt int        `json:"attempt"`
	Stream  string     `json:"stream"`
	Time    *time.Time `json:"time,omitempty"`
}

func originOf(o runlog.Origin) originJSON {
	doc := originJSON{Step: string(o.Step), Attempt: o.Attempt, Stream: streamName(o.Stream)}
	if !o.Time.IsZero() {
		doc.Time = &o.Time
	}
	return doc
}

// linesBegin is the origin of a line and of those that follow it.
type linesBegin struct {
	Line int64 `json:"line"`
	originJSON
}

// isMerged reports whether a request is for a merged log.
func isMerged(r *http.Request) bool { return r.URL.Query().Get("merged") == "1" }

// merge merges the log that a request names: of the attempt that was chosen, or of all steps. nil: there is none. The caller
// closes it.
func (h *lineHandlers) merge(r *http.Request, past *engine.RecordedRun, chosen *runlog.Part) (*runlog.Merged, error) {
	in := r.URL.Query()
	sel := runlog.Selection{Live: !past.Info.Status.Settled()}
	switch step := dag.ID(in.Get("step")); {
	case step != "" && chosen == nil:
		return nil, nil
	case step != "":
		sel.Steps, sel.Loops, sel.Attempt = func(id dag.ID) bool { return id == step }, true, chosen.Attempt
	default:
		attempt, err := queryNumber(r, "attempt", 0, 1, 1<<31)
		if err != nil {
			return nil, err
		}
		sel.Attempt = int(attempt)
	}
	if only := in.Get("stream"); only != "" {
		sel.One = true
		if only == streamName(rundir.Stderr) {
			sel.Stream = rundir.Stderr
		}
	}
	id := r.PathValue("id")
	run, err := runlog.ReadRun(rundir.LogFolder(h.stateDir, id), past.Plan, past.Events)
	if err != nil {
		return nil, err
	}
	key := strings.Join([]string{id, in.Get("step"), strconv.Itoa(sel.Attempt), in.Get("stream")}, "\n")
	return run.Merge(sel, h.merged.of(key))
}

// mergedLines answers with lines of a merged log.
func (h *lineHandlers) mergedLines(w http.ResponseWriter, r *http.Request, past *engine.RecordedRun, chosen *runlog.Part, doc linesJSON, from int64, limit int) error {
	log, err := h.merge(r, past, chosen)
	if err != nil {
		return err
	}
	if log == nil {
		return writeJSON(w, 200, doc)
	}
	defer log.Close()
	page, settled, err := log.ReadPage(r.Context(), from, limit)
	if err != nil {
		return err
	}
	doc.partJSON, doc.Total, doc.Open, doc.From, doc.Lines, doc.Cut, doc.Settled = &partJSON{Bytes: page.Bytes}, page.Total, page.Open, page.From, page.Lines, page.Cut, &settled
	if chosen != nil {
		doc.Attempt = chosen.Attempt
	}
	var before runlog.Origin
	for i, at := range page.At {
		if o := log.Origin(at); i == 0 || o != before {
			doc.Origins = append(doc.Origins, linesBegin{page.From + int64(i), originOf(o)})
			before = o
		}
	}
	return writeJSON(w, 200, doc)
}

// searchMerged answers with the lines of a merged log that contain a text.
func (h *lineHandlers) searchMerged(w http.ResponseWriter, r *http.Request, past *engine.RecordedRun, chosen *runlog.Part, text string, from int64, limit int) error {
	doc := matchesJSON{Matches: []matchJSON{}}
	log, err := h.merge(r, past, chosen)
	if err != nil {
		return err
	}
	if log == nil {
		return writeJSON(w, 200, doc)
	}
	defer log.Close()
	found, next, err := log.Search(r.Context(), text, from, limit)
	if err != nil {
		return err
	}
	for _, m := range found {
		o := originOf(log.Origin(m.At))
		doc.Matches = append(doc.Matches, matchJSON{m.Line, m.Text, &o})
	}
	doc.Next = next
	return writeJSON(w, 200, doc)
}
