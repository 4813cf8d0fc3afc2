package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// maxPlan limits a plan as it is shown, in bytes: a person must see all of the plan to approve it.
const maxPlan = 3500

// exitPlanMode returns a tool that asks a person whether a plan should be carried out. Even if the call itself was
// already allowed, the run waits until a person approves or rejects the plan.
func exitPlanMode() *tool.Definition {
	quote := describedStep("quote", "Quotes each line of the plan", quotePlan)
	gate := &tool.Step{Name: "approval", WaitFor: []tool.Text{{S: "quote"}}, HasWaitFor: true,
		Body: &tool.Approve{Prompt: tool.Text{S: "A model wants to carry out this plan:\n\n{quote.output}\n\nApprove it?"}}}
	answer := describedStep("answer", "Tells the model that the plan was approved", func(context.Context, *gostep.StepInput) (any, error) {
		return gostep.TextContent("A person approved the plan. Carry it out now exactly as shown.\n", "The plan was approved."), nil
	})
	answer.WaitFor, answer.HasWaitFor = []tool.Text{{S: "approval"}}, true
	s := parsed(`{
		"type": "object",
		"additionalProperties": false,
		"required": ["plan"],
		"properties": {
			"plan": {"type": "string", "minLength": 1, "maxLength": 3500, "description": "The complete plan, kept short: what you will do, in which order, and what it changes.", "examples": ["1. Add a test that fails. 2. Fix parse.go. 3. Run all tests."]}
		}
	}`)
	return &tool.Definition{Name: "exit_plan_mode", DisplayName: "ExitPlanMode", Tags: []string{"read"},
		Description: "Shows a plan to a person and waits until it is approved or rejected. Call it after you have planned a change " +
			"and before you start; do only what was approved.",
		Schema: s, Parameters: tool.ParametersOf(s), Steps: []*tool.Step{quote, gate, answer}}
}

// describedStep returns a step in Go with a description that is shown in previews.
func describedStep(name, what string, f gostep.StepFunc) *tool.Step {
	step := gostep.GoStep(name, f)
	step.Body.(*tool.GoCode).Func.(*gostep.GoTool).Description = what
	return step
}

// quotePlan marks a plan as a quotation: each line starts with a bar, so that no part of it can look like the
// question, or like a text of flowrun.
func quotePlan(_ context.Context, in *gostep.StepInput) (any, error) {
	plan := strings.TrimSpace(strings.ReplaceAll(values(in.Params).text("plan"), "\r\n", "\n"))
	if plan == "" {
		return nil, errors.New("the plan is empty; describe what you will do")
	}
	shown := "| " + strings.ReplaceAll(visible(plan), "\n", "\n| ")
	if len(shown) > maxPlan {
		return nil, fmt.Errorf("the plan is %d bytes long, and at most %d can be shown to a person; make it shorter", len(shown), maxPlan)
	}
	return shown, nil
}
