package keyboard

import (
	"context"
	"errors"
	"io"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/terminal"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// Keyboard does nothing on Windows, where interactive steps do not run yet. Open always returns
// nil.
type Keyboard struct{}

func Open(env *ui.Env, _ bool) *Keyboard { return nil }

func (*Keyboard) TerminalWriter(w io.Writer) io.Writer { return w }

func (*Keyboard) SetView(*console.View) {}

func (*Keyboard) Release() {}

func (*Keyboard) Stdout() bool { return false }

// Prompt does nothing on Windows, where flowrun cannot ask during a run.
type Prompt struct{ Out io.Writer }

func (*Keyboard) Prompt(context.Context) (*Prompt, error) { return nil, errors.ErrUnsupported }

func (*Prompt) Close() {}

func (*Prompt) DiscardInput() {}

func (*Prompt) ReadLine(context.Context) (string, error) { return "", errors.ErrUnsupported }

func (*Keyboard) Attach(dag.ID) (terminal.Attachment, error) { return nil, errors.ErrUnsupported }
