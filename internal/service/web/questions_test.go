package web_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/service/web"
)

// TestAnswers checks that questions are listed, and that an answer continues the run, once.
func TestAnswers(t *testing.T) {
	b := newBench(t, web.Options{})
	answer := func(id, verb, body string, status int, code string) {
		t.Helper()
		res, doc := b.ask("POST", "/api/v1/runs/"+id+"/"+verb, body)
		if res.StatusCode != status || code != "" && problemIn(t, doc).Code != code {
			t.Errorf("%s %s: %d %s", verb, body, res.StatusCode, doc)
		}
	}
	id := b.start(`{"tool": "asks"}`)
	b.becomes(id, dag.Waiting)
	_, doc := b.get("/api/v1/runs/" + id + "/questions")
	var asked struct {
		Questions []struct {
			Step, Prompt string
			Form         map[string]any
		}
	}
	if err := json.Unmarshal(doc, &asked); err != nil || len(asked.Questions) != 1 || asked.Questions[0].Prompt != "Ship it?" || asked.Questions[0].Form["properties"] == nil {
		t.Errorf("%v %s", err, doc)
	}
	answer(id, "approve", "", 422, "invalid-parameters")
	answer(id, "approve", `{"values": {"VERSION": 1.5, "X": 1}}`, 422, "invalid-parameters")
	answer(id, "approve", `{"step": "gaet"}`, 404, "unknown-step")
	answer(id, "approve", `{"step": "ship"}`, 409, "no-question")
	answer(id, "reject", `{"values": {}}`, 400, "unknown-field")
	answer(id, "approve", `{"step": "gate", "values": {"VERSION": "1.2"}, "comment": "fine"}`, 202, "")
	b.becomes(id, dag.Succeeded)
	answer(id, "reject", "", 409, "no-question")
	if _, text := b.get("/api/v1/runs/" + id + "/logs?step=ship"); string(text) != "1.2\n" {
		t.Errorf("%q", text)
	}

	id = b.start(`{"tool": "asks"}`)
	b.becomes(id, dag.Waiting)
	answer(id, "reject", `{"comment": "not today"}`, 202, "")
	b.becomes(id, dag.Failed)

	id = b.start(`{"tool": "gates"}`)
	b.becomes(id, dag.Waiting)
	answer(id, "approve", "", 409, "many-questions")
	_, doc = b.get("/api/v1/runs/" + id + "/questions")
	if err := json.Unmarshal(doc, &asked); err != nil || len(asked.Questions) != 2 {
		t.Fatalf("%v %s", err, doc)
	}
	for _, q := range asked.Questions {
		answer(id, "approve", `{"step": `+strconv.Quote(q.Step)+`}`, 202, "")
	}
	b.becomes(id, dag.Succeeded)
}
