package web

import (
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/observe/runlog"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// logHandlers answer requests for the output of runs.
type logHandlers struct {
	history   History
	runs      Runs
	stateDir  string
	streaming *streaming
}

func (h logHandlers) routes() []route {
	return []route{
		{method: "GET", path: "/api/v1/runs/{id}/logs", id: "runLogs", summary: "Read the output of a run's steps",
			doc: "Each line is prefixed with its step, unless you ask for a single step.",
			query: []param{
				{name: "step", kind: "string", doc: "The path of a step. A step that uses a tool includes the tool's steps, a loop its items."},
				{name: "stream", kind: "string", doc: "Only this stream. Default: both.", enum: []string{"stdout", "stderr"}},
				{name: "attempt", kind: "integer", doc: "Only this attempt. Default: all."},
				{name: "download", kind: "string", doc: "With 1, browsers save the response as a file.", enum: []string{"0", "1"}},
				{name: follow, kind: "string", doc: "With 1, the response continues until the run ends.", enum: []string{"0", "1"}}},
			answers: []answer{{200, "The output; secrets are shown as ***.", asText, ""}}, handle: h.runLogs},
	}
}

// runLogs streams the output of the steps of a run.
func (h logHandlers) runLogs(w http.ResponseWriter, r *http.Request) error {
	id, in := r.PathValue("id"), r.URL.Query()
	attempt, err := queryNumber(r, "attempt", 0, 1, 1<<31)
	if err != nil {
		return err
	}
	past, err := h.runs.RecordedRun(r.Context(), id)
	if err != nil {
		return err
	}
	l := &logs{reader: runlog.New(rundir.LogFolder(h.stateDir, id), past.Plan, in.Get("step")), only: in.Get("stream")}
	l.reader.Attempt = int(attempt)
	var names []string
	for _, s := range past.Result().Steps {
		names = append(names, s.ID)
	}
	if step := in.Get("step"); step != "" && !slices.ContainsFunc(names, l.reader.Wants) {
		return past.NoStep(step)
	}
	if in.Get("download") == "1" {
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": logFileName(id, in)}))
	}
	s, err := h.streaming.begin(w, asText)
	if err != nil || r.Method == http.MethodHead {
		return err
	}
	l.bare, l.lines = s, console.NewPrefixer(s, names, console.PrefixOptions{})
	return h.copyLogs(r, s, l, past, in.Get(follow) == "1")
}

// logFileName returns the name under which a browser saves a log.
func logFileName(id string, in url.Values) string {
	name := id
	for _, part := range []string{in.Get("step"), in.Get("attempt"), in.Get("stream")} {
		if part != "" {
			name += "-" + part
		}
	}
	return strings.ReplaceAll(name, "/", "-") + ".log"
}

// copyLogs sends the logs of a run. If toEnd is set, it continues until the run ends.
func (h logHandlers) copyLogs(r *http.Request, s *stream, l *logs, past *engine.RecordedRun, toEnd bool) error {
	info, events := past.Info, past.Events
	for {
		if err := l.reader.Copy(events, l.to); err != nil {
			return err
		}
		if !toEnd || info.Status.Settled() || h.streaming.stopped() {
			return l.lines.Flush()
		}
		if err := s.flush(); err != nil {
			return err
		}
		select {
		case <-time.After(h.streaming.pollInterval):
		case <-h.streaming.stopping:
		case <-r.Context().Done():
			return nil
		}
		var err error
		if info, err = h.history.Info(r.Context(), info.ID); err != nil { // read before the events, see runEvents
			return err
		}
		if events, err = h.appendNew(r, info.ID, events); err != nil {
			return err
		}
	}
}

// appendNew appends the new events of a run to events.
func (h logHandlers) appendNew(r *http.Request, id string, events []dag.Event) ([]dag.Event, error) {
	for {
		after := uint64(0)
		if len(events) > 0 {
			after = events[len(events)-1].Seq
		}
		list, err := h.history.Events(r.Context(), id, after)
		if err != nil || len(list) == 0 {
			return events, err
		}
		events = append(events, list...)
	}
}

// logs chooses where the lines of the log of a run are written.
type logs struct {
	reader *runlog.Reader
	only   string // the requested stream, "" for both
	bare   io.Writer
	lines  *console.Prefixer
}

func (l *logs) to(s rundir.Stream, path dag.ID, _ int) io.Writer {
	switch {
	case l.only != "" && l.only != streamName(s):
		return io.Discard
	case l.reader.Exactly(path):
		return l.bare
	}
	return l.lines.Step(string(path))
}
