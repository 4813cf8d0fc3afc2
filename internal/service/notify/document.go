package notify

import (
	"encoding/json"
	"os"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/service/attention"
)

// Schema is the name of the document that is posted.
const Schema = "flowrun/notice.v1"

// document is the body of a post. Chat programs show the field text.
type document struct {
	Schema string          `json:"schema"`
	Event  Event           `json:"event"`
	Text   string          `json:"text"`
	Host   string          `json:"host,omitempty"`
	Run    json.RawMessage `json:"run,omitempty"` // flowrun/run.v1
	// Attention is what needs a person, for the events interrupted and attention.
	Attention *attention.Item `json:"attention,omitempty"`
	// Schedule is set for late and paused.
	Schedule *Schedule `json:"schedule,omitempty"`
}

// maxDocument is the maximum size of a post in bytes: receivers reject much larger ones.
const maxDocument = 1 << 20

// body encodes what is posted.
func (r Rule) body(o Outcome) ([]byte, error) {
	if r.Slack {
		return r.slackBody(o)
	}
	return o.body(r.Text(o))
}

// body encodes the document. It contains the beginnings of the run's streams. If it is too
// large, it omits first the streams, then the steps, then the parameters.
func (o Outcome) body(text string) ([]byte, error) {
	run := o.Result.Brief(dag.InlineLimit)
	for _, less := range []func(){
		func() { run = run.Brief(0) },
		func() { run.Steps, run.Tolerated = nil, []string{} },
		func() { run.Params = map[string]any{} },
	} {
		b, err := o.marshal(run, text)
		if err != nil || len(b) <= maxDocument {
			return b, err
		}
		less()
	}
	return o.marshal(run, text)
}

func (o Outcome) marshal(run *runresult.Result, text string) ([]byte, error) {
	host, _ := os.Hostname()
	doc := document{Schema: Schema, Event: o.Event, Text: text, Host: host, Attention: o.Item, Schedule: o.Schedule}
	if o.hasRun() {
		var err error
		if doc.Run, err = json.Marshal(run); err != nil {
			return nil, err
		}
	}
	return json.Marshal(doc)
}

// hasRun reports whether the outcome is one of a run.
func (o Outcome) hasRun() bool { return o.Result.ID != "" }

// status returns the status of the run, "" without a run.
func (o Outcome) status() string {
	if !o.hasRun() {
		return ""
	}
	return o.Result.Status.String()
}
