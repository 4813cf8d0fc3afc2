package cli

import (
	"context"
	"errors"
	"io"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/console"
)

// keyboard is not there on Windows: interactive steps do not run there yet.
type keyboard struct{}

func (env *Env) keyboard(bool) *keyboard { return nil }

func (*keyboard) screen(w io.Writer) io.Writer { return w }
func (*keyboard) cover(*console.View)          {}
func (*keyboard) release()                     {}
func (*keyboard) Stdout() bool                 { return false }

// sitting is never had: nobody is asked.
type sitting struct{ out io.Writer }

func (*keyboard) sit(context.Context) (*sitting, error) { return nil, errors.ErrUnsupported }

func (*sitting) leave()                               {}
func (*sitting) dropTyped()                           {}
func (*sitting) read(context.Context) (string, error) { return "", errors.ErrUnsupported }

func (*keyboard) Attach(dag.ID) (flowrun.Attachment, error) { return nil, errors.ErrUnsupported }
