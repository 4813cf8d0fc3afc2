package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/terminal"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// askMargin is the part of the remaining time of a call that is left when the client is no
// longer asked: the run then waits for an answer from elsewhere, instead of failing.
const askMargin = 10 // a tenth

// ask implements flowrun.WithApproval: the client shows its user the question of a step that
// needs approval. Newer versions of the protocol allow no questions during a call, and some
// clients cannot ask; the question is then left to others, and the run waits.
func (c *toolCall) ask(ctx context.Context, q history.Question) (history.Answer, error) {
	schema, err := questionSchema(q)
	if err != nil {
		return history.Answer{}, err
	}
	reply, err := c.elicit(ctx, questionText(q), schema)
	if err != nil {
		return history.Answer{}, waiting.ErrNoApprover
	}
	answer := history.Answer{Approve: reply.Action == "accept", By: cmp.Or(history.ActorOf(c.ctx), "a client (MCP)")}
	if q.Form == nil {
		answer.Approve = answer.Approve && reply.Content[decisionField] == "approve"
		return answer, nil
	}
	if answer.Approve {
		if answer.Values, err = q.Check(reply.Content); err != nil {
			return history.Answer{}, waiting.ErrNoApprover // the values are wrong; others can still answer
		}
	}
	return answer, nil
}

// errNoReply reports that the user of a client did not answer.
var errNoReply = errors.New("the user of the client did not answer")

// elicit lets the client show its user a form during a call. It fails if the user closed the form, or if some
// of the time of the call must be left.
func (c *toolCall) elicit(ctx context.Context, message string, schema map[string]any) (*mcp.ElicitResult, error) {
	if !c.canAsk() {
		return nil, errNoReply
	}
	if end, ok := ctx.Deadline(); ok {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadline(ctx, end.Add(-time.Until(end)/askMargin))
		defer stop()
	}
	reply, err := c.session.Elicit(c.within(ctx), &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: schema})
	if err == nil && reply.Action == "cancel" {
		err = errNoReply
	}
	return reply, err
}

// inputField is the field for the line of input that an interactive step waits for.
const inputField = "input"

// inputSchema describes a form that has only this field.
func inputSchema() map[string]any {
	return map[string]any{"type": "object", "required": []string{inputField}, "properties": map[string]any{
		inputField: map[string]any{"type": "string", "title": "Input", "description": "the line to type; decline to use the default response of the step"},
	}}
}

// input implements flowrun.WithPrompt: the user of the client sees what an interactive step has printed, and
// types the line that it waits for.
func (c *toolCall) input(ctx context.Context, p terminal.Prompt) (string, error) {
	card := fmt.Sprintf("Step %s is waiting for input. It has printed:\n\n%s", console.Visible(string(p.Step)), console.Block(console.PlainText(p.Text)))
	reply, err := c.elicit(ctx, card, inputSchema())
	if err != nil {
		return "", err
	}
	line, ok := reply.Content[inputField].(string)
	if reply.Action != "accept" || !ok {
		return "", errNoReply
	}
	return line, nil
}

// decisionField is the field in which a person approves or denies.
const decisionField = "decision"

// decisionSchema describes a form that has only this field.
func decisionSchema(doc string) map[string]any {
	return map[string]any{"type": "object", "required": []string{decisionField}, "properties": map[string]any{
		decisionField: map[string]any{"type": "string", "title": "Decision", "description": doc, "enum": []string{"approve", "deny"}},
	}}
}

// cardWidth is the width of the text that a person is shown, in columns.
const cardWidth = 80

// questionText returns what a person is shown.
func questionText(q history.Question) string {
	card := console.Question{Step: q.Step, Tool: q.Tool, Run: q.Run, Prompt: q.Prompt}
	if !q.Until.IsZero() {
		card.Until = q.Until.Format(time.RFC3339)
	}
	var b strings.Builder
	_ = card.Write(&b, cardWidth) // a Builder does not fail
	return strings.TrimLeft(b.String(), "\n")
}

// questionSchema describes what a person fills in: the form of the step, which is approved by
// sending it, or else only the decision.
func questionSchema(q history.Question) (schema map[string]any, err error) {
	if q.Form == nil {
		return decisionSchema("approve continues the run, deny rejects it"), nil
	}
	text, err := json.Marshal(q.Form)
	if err == nil {
		err = json.Unmarshal(text, &schema)
	}
	if err == nil {
		schema["type"] = "object" // the protocol requires it
	}
	return schema, err
}
