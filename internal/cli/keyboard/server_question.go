package keyboard

import (
	"cmp"
	"context"
	"fmt"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// AskForServer shows the question of a server and asks for the values of its form. The error is
// flowrun.ErrNoApprover if the person cancels.
func (k *Keyboard) AskForServer(ctx context.Context, server string, q history.Question) (answer history.Answer, err error) {
	prompt, err := k.Prompt(ctx)
	if err != nil {
		return answer, cmp.Or(ctx.Err(), err)
	}
	defer prompt.Close()
	fmt.Fprintf(prompt.Out, "\nThe MCP server %s asks:\n\n%s\n\nIt gets what you type.\n", console.Visible(server), console.Block(console.PlainText(q.Prompt)))
	f := prompt.Form(ctx, q)
	prompt.DiscardInput() // input from before the question is not an answer
	for {
		switch word, err := f.ReadAnswer("[a]ccept, [d]ecline, [c]ancel? "); {
		case err != nil:
			return answer, err
		case word == "a", word == "accept":
			if err := f.AskFields(); err != nil {
				return answer, err
			}
			answer.Approve = true
			answer.Values, err = q.Check(f.Values)
			return answer, err
		case word == "d", word == "decline":
			return answer, nil
		case word == "c", word == "cancel":
			return answer, waiting.ErrNoApprover
		}
	}
}
