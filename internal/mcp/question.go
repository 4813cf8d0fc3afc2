package mcp

import (
	"context"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/tool"
)

// askMargin is the part of the remaining time of a call that is left when the client is no
// longer asked: the run then waits for an answer from elsewhere, instead of failing.
const askMargin = 10 // a tenth

// ask implements flowrun.WithApproval: the client shows its user the question of a step that
// needs approval. Newer versions of the protocol allow no questions during a call, and some
// clients cannot ask; the question is then left to others, and the run waits.
func (c *call) ask(ctx context.Context, q flowrun.Question) (flowrun.Answer, error) {
	if !c.canAsk() {
		return flowrun.Answer{}, flowrun.ErrNoApprover
	}
	if end, ok := ctx.Deadline(); ok {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadline(ctx, end.Add(-time.Until(end)/askMargin))
		defer stop()
	}
	reply, err := c.session.Elicit(ctx, &mcp.ElicitParams{Mode: "form", Message: questionText(q), RequestedSchema: questionSchema(q)})
	if err != nil || reply.Action == "cancel" {
		return flowrun.Answer{}, flowrun.ErrNoApprover
	}
	answer := flowrun.Answer{Approve: reply.Action == "accept" && reply.Content[decisionField] == "approve", By: "a client (MCP)"}
	if !answer.Approve {
		return answer, nil
	}
	delete(reply.Content, decisionField)
	if answer.Values, err = q.Check(reply.Content); err != nil {
		return flowrun.Answer{}, flowrun.ErrNoApprover // the values are wrong; others can still answer
	}
	return answer, nil
}

// decisionField is the field of a form in which a person approves or denies.
const decisionField = "decision"

// decisionSchema describes it.
func decisionSchema(doc string) map[string]any {
	return map[string]any{"type": "string", "title": "Decision", "description": doc, "enum": []string{"approve", "deny"}}
}

// cardWidth is the width of the text that a person is shown, in columns.
const cardWidth = 80

// questionText returns what a person is shown.
func questionText(q flowrun.Question) string {
	card := console.Question{Step: q.Step, Tool: q.Tool, Run: q.Run, Prompt: q.Prompt}
	if !q.Until.IsZero() {
		card.Until = q.Until.Format(time.RFC3339)
	}
	var b strings.Builder
	_ = card.Write(&b, cardWidth) // a Builder does not fail
	return strings.TrimLeft(b.String(), "\n")
}

// questionSchema describes the form: the decision, and the fields of the step. The protocol
// allows texts, numbers and booleans; other fields are written as JSON.
func questionSchema(q flowrun.Question) map[string]any {
	fields, required := map[string]any{decisionField: decisionSchema("approve continues the run, deny rejects it")}, []string{decisionField}
	if q.Form != nil {
		for _, f := range q.Form.Fields {
			if f.Name != decisionField {
				fields[f.Name] = fieldSchema(f)
			}
		}
	}
	return map[string]any{"type": "object", "properties": fields, "required": required}
}

// fieldSchema describes one field of a form. No field is required, because a person who denies
// need not fill it in; Question.Check reports what is missing.
func fieldSchema(f tool.FormField) map[string]any {
	s := map[string]any{"type": f.Type}
	switch f.Type {
	case "string", "number", "integer", "boolean":
	default:
		s["type"] = "string"
	}
	if f.Title != "" {
		s["title"] = f.Title
	}
	if f.Description != "" {
		s["description"] = f.Description
	}
	if texts := textsOf(f.Enum); s["type"] == "string" && len(texts) > 0 {
		s["enum"] = texts
	}
	switch f.Default.(type) {
	case string, bool, float64:
		s["default"] = f.Default
	}
	return s
}

// textsOf returns the texts in an enum.
func textsOf(enum []any) (texts []string) {
	for _, v := range enum {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}
