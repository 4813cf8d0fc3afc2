package web

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/observe/runlog"
)

// logPart are the query parameters that choose the log of a step.
var logPart = []param{
	{name: "step", kind: "string", doc: "The path of the step, as in the events of the run."},
	{name: "attempt", kind: "integer", doc: "The attempt. Default: the last one that has output."},
	{name: "stream", kind: "string", doc: "The stream. Default: stdout, or stderr if only that has output; with `merged`, both.", enum: []string{"stdout", "stderr"}},
	{name: "merged", kind: "string", doc: "With 1, the streams are merged in the order in which they were printed, and each line has its origin. Without `step`: those of all steps, all attempts.", enum: []string{"0", "1"}},
}

// lineHandlers answer requests for lines of the logs of steps.
type lineHandlers struct {
	runs     Runs
	stateDir string
	indexes  indexes[runlog.LineIndex]
	merged   indexes[runlog.MergedIndex]
}

func (h *lineHandlers) routes() []route {
	return []route{
		{method: "GET", path: "/api/v1/runs/{id}/lines", id: "logLines", summary: "Read lines of the output of one attempt of a step",
			doc: "Lines are numbered from 1 and can be read from any place of the log, whatever its size. Very long lines are shortened, and a page has at most about 1 MiB. " +
				"If the log does not end with a line break, its last line may continue: read it again. In a merged log of a run that has not ended, lines after `settled` may still move.",
			query: append([]param{
				{name: "from", kind: "integer", doc: "The first line. 0 is the last line of the log, -9 the tenth from its end. Default: -499."},
				{name: "limit", kind: "integer", doc: "The maximum number of lines, 1 to 5000. Default: 500."}}, logPart...),
			answers: []answer{{200, "The lines; secrets are shown as ***.", "", "lines"}}, handle: h.logLines},
		{method: "GET", path: "/api/v1/runs/{id}/search", id: "searchLog", summary: "Search the output of one attempt of a step",
			doc: "Finds the lines that contain the text; the letters A to Z match in both cases. One request reads at most 32 MiB: while the response has `next`, continue from that line.",
			query: append([]param{
				{name: "text", kind: "string", doc: "The text."},
				{name: "from", kind: "integer", doc: "The line to begin with. Default: 1."},
				{name: "limit", kind: "integer", doc: "The maximum number of lines, 1 to 5000. Default: 500."}}, logPart...),
			answers: []answer{{200, "The lines that contain the text.", "", "matches"}}, handle: h.searchLog},
	}
}

// partJSON describes one log of a step.
type partJSON struct {
	Attempt int    `json:"attempt,omitempty"`
	Stream  string `json:"stream,omitempty"`
	Bytes   int64  `json:"bytes"`
}

func partOf(p runlog.Part) partJSON { return partJSON{p.Attempt, streamName(p.Stream), p.Bytes} }

func streamName(s rundir.Stream) string {
	if s == rundir.Stderr {
		return "stderr"
	}
	return "stdout"
}

// linesJSON is a page of lines.
type linesJSON struct {
	Parts []partJSON `json:"parts"` // all logs of the step
	*partJSON
	Total int64    `json:"total"`
	Open  bool     `json:"open"`
	From  int64    `json:"from"`
	Lines []string `json:"lines"`
	Cut   []int64  `json:"cut"`

	Settled *int64       `json:"settled,omitempty"`
	Origins []linesBegin `json:"origins,omitempty"`
}

func (h *lineHandlers) logLines(w http.ResponseWriter, r *http.Request) error {
	from, err := queryNumber(r, "from", -499, -1<<53, 1<<53)
	if err != nil {
		return err
	}
	limit, err := queryNumber(r, "limit", 500, 1, 5000)
	if err != nil {
		return err
	}
	past, parts, chosen, err := h.logParts(r)
	if err != nil {
		return err
	}
	doc := linesJSON{Parts: []partJSON{}, Lines: []string{}, Cut: []int64{}, From: 1}
	for _, p := range parts {
		doc.Parts = append(doc.Parts, partOf(p))
	}
	if isMerged(r) {
		return h.mergedLines(w, r, past, chosen, doc, from, int(limit))
	}
	if chosen == nil {
		return writeJSON(w, 200, doc)
	}
	log, err := chosen.Open()
	if err != nil {
		return err
	}
	defer log.Close()
	page, err := runlog.ReadPage(r.Context(), log, log.Size(), h.indexes.of(chosen.Key()), from, int(limit))
	if err != nil {
		return err
	}
	part := partOf(*chosen)
	part.Bytes = page.Bytes
	doc.partJSON, doc.Total, doc.Open, doc.From, doc.Lines, doc.Cut = &part, page.Total, page.Open, page.From, page.Lines, page.Cut
	return writeJSON(w, 200, doc)
}

// matchJSON is a line that a search has found.
type matchJSON struct {
	Line int64  `json:"line"`
	Text string `json:"text"`
	*originJSON
}

type matchesJSON struct {
	Matches []matchJSON `json:"matches"`
	Next    int64       `json:"next,omitempty"`
}

func (h *lineHandlers) searchLog(w http.ResponseWriter, r *http.Request) error {
	text := r.URL.Query().Get("text")
	if text == "" || strings.Contains(text, "\n") {
		return refuse(400, "wrong-query", "the query parameter text is not a part of a line", "")
	}
	from, err := queryNumber(r, "from", 1, 1, 1<<53)
	if err != nil {
		return err
	}
	limit, err := queryNumber(r, "limit", 500, 1, 5000)
	if err != nil {
		return err
	}
	doc := matchesJSON{Matches: []matchJSON{}}
	past, _, chosen, err := h.logParts(r)
	if err != nil {
		return err
	}
	if isMerged(r) {
		return h.searchMerged(w, r, past, chosen, text, from, int(limit))
	}
	if chosen == nil {
		return writeJSON(w, 200, doc)
	}
	log, err := chosen.Open()
	if err != nil {
		return err
	}
	defer log.Close()
	found, next, err := runlog.Search(r.Context(), log, log.Size(), h.indexes.of(chosen.Key()), text, from, int(limit))
	if err != nil {
		return err
	}
	for _, m := range found {
		doc.Matches = append(doc.Matches, matchJSON{Line: m.Line, Text: m.Text})
	}
	doc.Next = next
	return writeJSON(w, 200, doc)
}

// logParts returns the run and the logs of the step that a request names, and the one that it chooses, nil if there is none.
// A merged log needs no step.
func (h *lineHandlers) logParts(r *http.Request) (past *engine.RecordedRun, parts []runlog.Part, chosen *runlog.Part, err error) {
	id, step, only := r.PathValue("id"), r.URL.Query().Get("step"), r.URL.Query().Get("stream")
	attempt, err := queryNumber(r, "attempt", 0, 1, 1<<31)
	if err != nil {
		return nil, nil, nil, err
	}
	past, err = h.runs.RecordedRun(r.Context(), id)
	if err != nil || step == "" && isMerged(r) {
		return past, nil, nil, err
	}
	parts, known, err := runlog.Parts(rundir.LogFolder(h.stateDir, id), past.Plan, past.Events, dag.ID(step))
	switch {
	case err != nil:
		return nil, nil, nil, err
	case !known && past.Plan.Step(step) == nil:
		return nil, nil, nil, past.NoStep(step)
	}
	for i := range parts {
		p := &parts[i]
		if (attempt == 0 || p.Attempt == int(attempt)) && (only == "" || streamName(p.Stream) == only) &&
			(chosen == nil || p.Attempt > chosen.Attempt) {
			chosen = p
		}
	}
	return past, parts, chosen, nil
}

// queryNumber returns a query parameter that is a whole number, or a default.
func queryNumber(r *http.Request, name string, otherwise, low, high int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < low || n > high {
		return 0, refuse(400, "wrong-query", "the query parameter "+name+" is not a whole number that is allowed here", "")
	}
	return n, nil
}

// indexes keeps what was found out about the logs that were read last.
type indexes[T any] struct {
	mu  sync.Mutex
	all map[string]*T
}

const maxIndexes = 100

// of returns the index of a log.
func (l *indexes[T]) of(key string) *T {
	if key == "" {
		return new(T)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.all[key]
	if x == nil {
		if l.all == nil || len(l.all) >= maxIndexes {
			l.all = map[string]*T{}
		}
		x = new(T)
		l.all[key] = x
	}
	return x
}
