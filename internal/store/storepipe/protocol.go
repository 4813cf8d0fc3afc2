// Package storepipe shows a program the runs that another program has: the other one serves its Store over its standard input
// and output, and the Client is a Store for the first.
//
// Both programs are of the same release. Each request and each reply is a line of JSON. The server first writes a line with
// the name of the protocol, so that a program of another release is noticed. Replies have the number of their request and may
// come in any order: a run that is slow to read does not keep others waiting.
//
// Runs can be read, answered and cancelled. They cannot be started or taken over, and what tools keep between runs is not served.
package storepipe

import (
	"errors"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// protocol names the form of requests and replies.
const protocol = "flowrun store pipe 1"

// greeting is the first line of the server.
type greeting struct {
	Protocol string `json:"protocol"`
}

// The methods of a request are those of history.Store, and artifact.
const (
	recordMethod   = "record"
	infoMethod     = "info"
	eventsMethod   = "events"
	runsMethod     = "runs"
	answerMethod   = "answer"
	cancelMethod   = "cancel"
	queueMethod    = "queue"
	artifactMethod = "artifact"
)

// request is a call of a method, with its arguments.
type request struct {
	Number   uint64          `json:"number"`
	Method   string          `json:"method"`
	Run      string          `json:"run,omitempty"`
	After    uint64          `json:"after,omitempty"`
	Query    *history.Query  `json:"query,omitempty"`
	Answer   *history.Answer `json:"answer,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Artifact *dag.Artifact   `json:"artifact,omitempty"`
}

// reply is what a method returned.
type reply struct {
	Number   uint64            `json:"number"`
	Error    string            `json:"error,omitempty"`
	Kind     string            `json:"kind,omitempty"` // of the error, see kinds
	Record   *history.Record   `json:"record,omitempty"`
	Texts    [][]byte          `json:"texts,omitempty"` // of Record.Sources
	Runs     []history.RunInfo `json:"runs,omitempty"`
	Events   []byte            `json:"events,omitempty"` // in the form of internal/store/eventcode
	Queue    history.Queue     `json:"queue,omitempty"`
	Artifact *dag.Artifact     `json:"artifact,omitempty"`
}

// kinds are the errors that a reader of runs must be able to recognize.
func kinds() map[string]error {
	return map[string]error{"no-run": history.ErrNoRun, "answered": history.ErrAnswered}
}

// setError puts an error into a reply.
func (r *reply) setError(err error) {
	r.Error = err.Error()
	for name, kind := range kinds() {
		if errors.Is(err, kind) {
			r.Kind = name
		}
	}
}

// err returns the error of a reply.
func (r *reply) err() error {
	if r.Error == "" {
		return nil
	}
	return &failure{r.Error, kinds()[r.Kind]}
}

// failure is an error of the server.
type failure struct {
	text string
	kind error // nil for most
}

func (f *failure) Error() string { return f.text }

func (f *failure) Unwrap() error { return f.kind }
