package steps

import (
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/output"
	"github.com/flowrun/flowrun/internal/engine/terminal"
)

// slowTerminal shows nothing until it is released.
type slowTerminal struct {
	*testTerminal
	shows chan struct{}
}

type slowChair struct {
	terminal.Attachment
	shows chan struct{}
}

func (d slowTerminal) Attach(step dag.ID) (terminal.Attachment, error) {
	a, err := d.testTerminal.Attach(step)
	return slowChair{a, d.shows}, err
}

func (c slowChair) Write(b []byte) (int, error) {
	<-c.shows
	return c.Attachment.Write(b)
}

// TestSlowTerminal: what a step printed is its output, also if the terminal of the person is slow.
func TestSlowTerminal(t *testing.T) {
	t.Parallel()
	d := slowTerminal{newDesk(), make(chan struct{})}
	b := open(t, Options{Terminal: d}, nil)
	defer b.close(t)
	time.AfterFunc(2*output.CloseTimeout, func() { close(d.shows) })
	if r := b.runPolicy(t, t.Context(), b.asking(t, b.bash(t, "echo one; echo two"), "y"), dag.Policy{}); stdout(r) != "one\ntwo\n" {
		t.Errorf("printed %q", stdout(r))
	}
}
