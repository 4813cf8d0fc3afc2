package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/service"
)

// questionHandlers answer requests for the questions of runs.
type questionHandlers struct {
	runs    Runs
	list    runList
	control Control
	bodies  *bodyReader
	log     *slog.Logger
}

func (h questionHandlers) routes() []route {
	return []route{
		{method: "GET", path: "/api/v1/questions", id: "listAllQuestions", summary: "List the questions of all runs, newest run first",
			query:   []param{{name: "before", kind: "string", doc: "The next of the previous page: only the questions of the runs that follow."}},
			answers: []answer{{200, "The questions that are waiting for an answer. If there may be more, next has the value of before for the next page.", "", "allQuestions"}}, handle: h.allQuestions},
		{method: "GET", path: "/api/v1/runs/{id}/questions", id: "listQuestions", summary: "List the questions of a run",
			answers: []answer{{200, "The questions that are waiting for an answer.", "", "questions"}}, handle: h.questions},
		{method: "POST", path: "/api/v1/runs/{id}/approve", id: "approve", continuesRun: true, summary: "Approve a waiting step",
			doc:  "The run continues with the values of the form.",
			body: "approve", answers: []answer{{202, "The answer is recorded.", "", "started"}}, handle: func(w http.ResponseWriter, r *http.Request) error { return h.answer(w, r, true) }},
		{method: "POST", path: "/api/v1/runs/{id}/reject", id: "reject", continuesRun: true, summary: "Reject a waiting step",
			body: "reject", answers: []answer{{202, "The answer is recorded.", "", "started"}}, handle: func(w http.ResponseWriter, r *http.Request) error { return h.answer(w, r, false) }},
	}
}

// question is a question of a step as JSON.
type question struct {
	Step   string           `json:"step"`
	Prompt string           `json:"prompt"`
	Form   *dataschema.Form `json:"form,omitempty"`
	Since  time.Time        `json:"since"`
	Until  time.Time        `json:"until,omitzero"`
}

func (h questionHandlers) questions(w http.ResponseWriter, r *http.Request) error {
	p, err := h.runs.RecordedRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	list := []question{}
	for _, q := range p.Questions() {
		list = append(list, questionOf(q))
	}
	return writeJSON(w, 200, map[string][]question{"questions": list})
}

func questionOf(q history.Question) question {
	return question{q.Step, q.Prompt, q.Form, q.Since, q.Until}
}

// openQuestion is a question with its run.
type openQuestion struct {
	Run     string    `json:"run"`
	Tool    string    `json:"tool"`
	Origin  string    `json:"origin,omitempty"`
	Started time.Time `json:"started"`
	question
}

// maxAskingRuns is the number of active runs whose questions are in one page.
const maxAskingRuns = 100

// allQuestions lists the questions of active runs. One that is running can ask while its other steps
// run.
func (h questionHandlers) allQuestions(w http.ResponseWriter, r *http.Request) error {
	f, err := h.list.filter(r, url.Values{"before": r.URL.Query()["before"], "status": {dag.Waiting.String(), dag.Running.String()}, "limit": {strconv.Itoa(maxAskingRuns)}})
	if err != nil {
		return err
	}
	runs, next, err := f.Page(r.Context(), h.list.history.Runs, time.Now().Add(examineTime))
	if err != nil {
		return err
	}
	list := []openQuestion{}
	for _, run := range runs {
		p, err := h.runs.RecordedRun(r.Context(), run.ID)
		if err != nil { // one run that cannot be read must not hide the questions of the others
			h.log.Warn("cannot read the questions of a run", "run", run.ID, "error", err.Error())
			continue
		}
		for _, q := range p.Questions() {
			list = append(list, openQuestion{run.ID, run.Tool, run.Origin, run.Started, questionOf(q)})
		}
	}
	return writeJSON(w, 200, struct {
		Questions []openQuestion `json:"questions"`
		Next      string         `json:"next,omitempty"`
	}{list, next})
}

// answer passes a decision to a run. The step is named in the body, because its path may
// contain any text: it includes the items of loops.
func (h questionHandlers) answer(w http.ResponseWriter, r *http.Request, approve bool) error {
	id := r.PathValue("id")
	step, a := "", service.Answer{Approve: approve}
	fields := []bodyField{{"step", &step}, {"comment", &a.Comment}}
	if approve {
		fields = append(fields, bodyField{"values", &a.Values})
	}
	if err := h.bodies.readFields(w, r, fields...); err != nil {
		return err
	}
	if err := h.control.Answer(context.WithoutCancel(r.Context()), id, step, a); err != nil {
		return err
	}
	return accept(w, id)
}
