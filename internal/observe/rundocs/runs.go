// Package rundocs makes the JSON documents that list runs: flowrun/runs.v1 and
// flowrun/ps.v1. All entry points return them in the same form. Fields are only ever added.
package rundocs

import (
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Runs is the document flowrun/runs.v1.
type Runs struct {
	Schema string `json:"schema"`
	Runs   []Run  `json:"runs"`
	Next   string `json:"next,omitempty"` // the id after which the list continues
}

// ListedRun is the document flowrun/listed-run.v1: one line of a list of runs.
type ListedRun struct {
	Schema string `json:"schema"`
	Run
}

// ListedRunOf returns the line of a run.
func ListedRunOf(info history.RunInfo, now time.Time) ListedRun {
	return ListedRun{"flowrun/listed-run.v1", RunOf(info, now)}
}

// Run is one run in a list.
type Run struct {
	ID         string            `json:"id"`
	Tool       string            `json:"tool"`
	RetryOf    string            `json:"retry_of,omitempty"`
	Origin     string            `json:"origin,omitempty"`
	Engine     string            `json:"engine,omitempty"` // temporal, of a run there
	Status     dag.Status        `json:"status"`
	ExitCode   int               `json:"exit_code"`
	Reason     string            `json:"reason,omitempty"`
	Message    string            `json:"message,omitempty"`
	Notes      []string          `json:"notes,omitempty"`
	Started    time.Time         `json:"started"`
	Ended      time.Time         `json:"ended,omitzero"`
	RetryAt    time.Time         `json:"retry_at,omitzero"`  // when it is retried automatically
	LastSign   time.Time         `json:"last_sign,omitzero"` // of an interrupted run
	DurationMS int64             `json:"duration_ms"`
	Labels     map[string]string `json:"labels,omitempty"`
	Artifacts  bool              `json:"artifacts,omitempty"` // whether a step has kept one
	// Params are the parameters as text, if the RunInfo has them.
	Params map[string]string `json:"params,omitempty"`
}

// RunsOf makes the document; now gives the duration of runs that are live or waiting.
func RunsOf(list []history.RunInfo, now time.Time) Runs {
	doc := Runs{Schema: "flowrun/runs.v1", Runs: []Run{}}
	for _, r := range list {
		doc.Runs = append(doc.Runs, RunOf(r, now))
	}
	return doc
}

// RunOf returns the entry of one run at the time now.
func RunOf(r history.RunInfo, now time.Time) Run {
	return Run{ID: r.ID, Tool: r.Tool, RetryOf: r.RetryOf, Origin: r.Origin, Engine: r.Engine, Status: r.Status, ExitCode: r.ExitCode, Reason: r.Reason,
		Message: r.Message, Notes: r.Notes, Started: r.Started, Ended: r.Ended, RetryAt: r.RetryAt, LastSign: r.LastSign, DurationMS: r.Took(now).Milliseconds(), Labels: r.Labels, Artifacts: r.Artifacts, Params: shortParams(r.Params)}
}

// maxParam is the maximum length in bytes of the value of a parameter in a list.
const maxParam = 200

func shortParams(params map[string]any) map[string]string {
	if len(params) == 0 {
		return nil
	}
	short := map[string]string{}
	for name, v := range params {
		text := value.Plain(v)
		short[name] = value.UpTo(maxParam, text)
		if len(short[name]) < len(text) {
			short[name] += "..."
		}
	}
	return short
}
