package web

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/label"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/observe/rundocs"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/library"
)

// runHandlers answer requests to start, show and cancel runs.
type runHandlers struct {
	starter starter
	control Control
	history History
	runs    Runs
	bodies  *bodyReader
	brief   encodedDocs[engine.RecordedRun]
}

func (h *runHandlers) routes() []route {
	return []route{
		{method: "GET", path: "/api/v1/ps", id: "ps", summary: "List active runs, locks and queues",
			answers: []answer{{200, "Active runs, locks with their holders and queues, and tools with a limit of active runs.", "", "ps"}}, handle: h.ps},
		{method: "POST", path: "/api/v1/runs", id: "startRun", summary: "Start a run of a tool",
			doc: "The response is sent once the run is durably recorded, before the run ends. With an `Idempotency-Key` you can repeat the request if the response was lost: " +
				"the same key returns the same run, as long as it is in the history.",
			headers: []param{{name: "Idempotency-Key", kind: "string", doc: "A unique string of up to 255 characters."}, trace},
			body:    "start", answers: []answer{accepted}, handle: h.startRun},
		{method: "GET", path: "/api/v1/runs/{id}", id: "getRun", summary: "Show the state of a run and its steps",
			query:   []param{{name: "brief", kind: "string", doc: "With 1, the outputs of the run and its steps are omitted.", enum: []string{"0", "1"}}},
			answers: []answer{{200, "The run.", "", "run"}}, handle: h.showRun},
		{method: "POST", path: "/api/v1/runs/{id}/cancel", id: "cancelRun", summary: "Ask a run to stop",
			doc:  "The steps are stopped and the cleanup runs; the response does not wait for that. A run that has ended is not retried automatically any more.",
			body: "nothing", answers: []answer{{202, "The run was asked to stop.", "", "started"}}, handle: h.cancelRun},
		{method: "GET", path: "/api/v1/runs/{id}/definition", id: "getDefinition", summary: "Show the definitions that a run used",
			doc:     "These are the texts as they were when the run started, with secrets masked. The first one is that of the run's tool, the others are of the tools that it uses.",
			answers: []answer{{200, "The definitions.", "", "definition"}}, handle: h.definition},
	}
}

// accept responds with the id of a run.
func accept(w http.ResponseWriter, id string) error {
	w.Header().Set("Location", "/api/v1/runs/"+url.PathEscape(id))
	return writeJSON(w, http.StatusAccepted, map[string]string{"id": id})
}

// ps lists active runs, locks and queues.
func (h *runHandlers) ps(w http.ResponseWriter, r *http.Request) error {
	may := callerFrom(r).mayUse
	if callerFrom(r).allTools() {
		may = nil
	}
	doc, err := rundocs.ReadPs(r.Context(), h.history, may)
	if err != nil {
		return err
	}
	return writeJSON(w, 200, doc.WithoutFiles())
}

func (h *runHandlers) showRun(w http.ResponseWriter, r *http.Request) error {
	p, err := h.runs.RecordedRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	var doc []byte
	if r.URL.Query().Get("brief") == "1" {
		doc, err = h.brief.of(p, func() ([]byte, error) { return publicResult(p).Brief(0).MarshalJSON() })
	} else {
		doc, err = publicResult(p).MarshalJSON() // writeJSON would read what it returns once more
	}
	if err != nil {
		return err
	}
	return writeDocument(w, 200, doc)
}

// maxBriefBytes bounds the encoded runs without outputs that are kept: all pages of a run request the same one when
// something happens in it. Runs with their outputs are not kept, because the logs of the steps can be removed.
const maxBriefBytes = 8 << 20

// publicResult returns the outcome of a run for callers.
func publicResult(p *engine.RecordedRun) *runresult.Result {
	res := p.Result()
	res.Message = publicMessage(res.Reason, res.Message)
	return res
}

// publicMessage returns the message of a run for callers. The reason why a run could not start
// may name paths and settings of the machine, and is left out.
func publicMessage(reason, message string) string {
	if dag.IsNotStarted(reason) {
		return "the run could not start; for the reason, use flowrun show on the machine of the service"
	}
	return message
}

func (h *runHandlers) startRun(w http.ResponseWriter, r *http.Request) error {
	labels := map[string]any{}
	q, detach := service.Request{Origin: "api", Unlisted: onSocket(r), Parent: traceparent(r)}, false
	err := h.bodies.readFields(w, r, bodyField{"tool", &q.Tool}, bodyField{"params", &q.Params}, bodyField{"labels", &labels}, bodyField{"detach", &detach})
	if err == nil {
		q.Labels, err = readLabels(labels)
	}
	q.Params = rawtext.DecodeMap(q.Params)
	switch {
	case err != nil:
		return err
	case q.Tool == "":
		return refuse(400, "no-tool", "the field tool is missing", `send {"tool": "NAME", "params": {...}}`)
	case !callerFrom(r).mayUse(q.Tool):
		return &library.NotFoundError{Name: q.Tool}
	case detach && onSocket(r): // a caller over the network is not the user of this machine
		q.Origin = "detach"
	}
	if keys := r.Header.Values("Idempotency-Key"); len(keys) > 0 {
		if len(keys) > 1 || keys[0] == "" || len(keys[0]) > 255 {
			return refuse(400, "wrong-key", "the Idempotency-Key must have 1 to 255 characters", "")
		}
		q.ID = derivedID("key", keys[0])
	}
	return h.starter.start(w, r, q, "Idempotency-Key")
}

// readLabels returns the labels in the body of a request.
func readLabels(in map[string]any) (map[string]string, error) {
	labels := make(map[string]string, len(in))
	for name, v := range in {
		text, ok := v.(string)
		if !ok {
			return nil, refuse(400, "wrong-labels", fmt.Sprintf("the value of the label %q is not text", clip(name)), "")
		}
		labels[name] = text
	}
	if err := label.CheckAll(labels); err != nil {
		return nil, refuse(400, "wrong-labels", err.Error(), label.Rules)
	}
	return labels, nil
}

// starter starts runs for requests.
type starter struct {
	Starter
	runs Runs
}

// start starts a run even if the caller disconnects: a caller that repeats the request must
// find the run. key is the header that the id in the request is made from.
//
// The request is compared with the record of the run afterwards, because of two different
// requests at once with one key both could be the first until one has started.
func (s starter) start(w http.ResponseWriter, r *http.Request, q service.Request, key string) error {
	ctx := context.WithoutCancel(r.Context())
	id, err := s.Start(ctx, q)
	if err == nil && q.ID != "" {
		err = s.sameRequest(ctx, q, key)
	}
	if err != nil {
		return err
	}
	return accept(w, id)
}

// sameRequest rejects a key that was used for a different request. Secret parameters of the
// earlier request were not recorded and are not compared.
func (s starter) sameRequest(ctx context.Context, q service.Request, key string) error {
	p, err := s.runs.RecordedRun(ctx, q.ID)
	if err != nil {
		return err
	}
	other := p.Record.Tool != q.Tool
	for name, v := range q.Params {
		was, kept := p.Record.Given[name]
		other = other || !slices.Contains(p.Record.Withheld, name) && !(kept && rawtext.Equal(was, v))
	}
	for name := range p.Record.Given {
		_, given := q.Params[name]
		other = other || !given
	}
	for name, v := range q.Labels {
		other = other || p.Record.Labels[name] != v
	}
	if other {
		return refuse(409, "key-reused", fmt.Sprintf("the %s was already used for a different request, which started run %s", key, q.ID), "use a new key for a new request")
	}
	return nil
}

// derivedID returns a run id that depends on the words alone. It has the format of ids made
// from the time; the chance that it equals one of them is 2^-65.
func derivedID(words ...string) string {
	h := sha256.New()
	for _, w := range words {
		fmt.Fprintf(h, "%d:%s", len(w), w)
	}
	return base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").EncodeToString(h.Sum(nil))[:13]
}

var traceparents = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
})

// traceparent returns the caller's trace context. An invalid one is ignored, as W3C Trace
// Context requires.
func traceparent(r *http.Request) string {
	t := r.Header.Get("traceparent")
	if !traceparents().MatchString(t) || strings.HasPrefix(t, "ff") || t[3:35] == strings.Repeat("0", 32) || t[36:52] == strings.Repeat("0", 16) {
		return ""
	}
	return t
}

func (h *runHandlers) cancelRun(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if err := h.bodies.readFields(w, r); err != nil {
		return err
	}
	info, err := h.history.Info(r.Context(), id)
	switch {
	case err != nil:
		return err
	case info.Status.Settled() && info.Status != dag.Interrupted && info.RetryAt.IsZero():
		return refuse(409, "ended", fmt.Sprintf("the run has already ended: %s", info.Status.With(info.Notes...)), "")
	}
	if err := h.control.Cancel(context.WithoutCancel(r.Context()), id, "cancelled over the API"); err != nil {
		return err
	}
	return accept(w, id)
}
