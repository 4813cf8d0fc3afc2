package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/keyboard"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// prompter asks the person at the terminal the questions of a run, one at a time.
type prompter struct {
	env      *ui.Env
	keyboard *keyboard.Keyboard
}

// promptAtTerminal returns the function that answers the questions of a run at the terminal, or nil
// if no person can be asked.
func promptAtTerminal(env *ui.Env, keys *keyboard.Keyboard, f ui.InteractionFlags) func(context.Context, history.Question) (history.Answer, error) {
	if keys == nil || !env.CanAsk(f) {
		return nil
	}
	return (&prompter{env, keys}).ask
}

// ask shows the question, asks for a decision, and for the values of its form. The error is
// flowrun.ErrNoApprover if the person leaves the question for later.
func (k *prompter) ask(ctx context.Context, q history.Question) (history.Answer, error) {
	answer := history.Answer{By: k.env.UserAndTerminal()}
	prompt, err := k.keyboard.Prompt(ctx)
	if err != nil {
		return answer, cmp.Or(ctx.Err(), err)
	}
	defer prompt.Close()
	width, _ := ui.TerminalSize(prompt.Out)
	if err := questionCard(q).Write(prompt.Out, cmp.Or(width, 80)); err != nil {
		return answer, err
	}
	f := prompt.Form(ctx, q)
	prompt.DiscardInput() // input from before the question is not an answer
	for {
		switch word, err := f.ReadAnswer("[a]pprove, [r]eject, [l]ater? "); {
		case err != nil:
			return answer, err
		case slices.Contains([]string{"a", "approve", "y", "yes"}, word):
			if err := f.AskFields(); err != nil {
				return answer, err
			}
			answer.Approve, answer.Values = true, f.Values
			return answer, nil
		case slices.Contains([]string{"r", "reject", "n", "no"}, word):
			answer.Comment, err = f.ReadAnswer("reason (optional): ")
			if errors.Is(err, waiting.ErrNoApprover) {
				err = nil
			}
			return answer, err
		case word == "l", word == "later":
			return answer, waiting.ErrNoApprover
		}
	}
}

// questionCard converts a question to the form in which a person sees it.
func questionCard(q history.Question) console.Question {
	c := console.Question{Step: q.Step, Tool: q.Tool, Run: q.Run, Prompt: q.Prompt}
	if !q.Until.IsZero() {
		c.Until = fmt.Sprintf("%s (%s from now)", q.Until.Local().Format(time.DateTime), time.Until(q.Until).Round(time.Second))
	}
	return c
}
