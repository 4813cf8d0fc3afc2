package runlog

import (
	"fmt"
	"io"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/rundir"
)

// Labelled returns a Destination that writes everything to w. A line before each output names its
// step, attempt and stream, unless the output is empty.
func Labelled(w io.Writer) Destination {
	return func(stream rundir.Stream, path dag.ID, attempt int) io.Writer {
		name := "stdout"
		if stream == rundir.Stderr {
			name = "stderr"
		}
		return &labelled{w: w, label: fmt.Sprintf("--- %s, attempt %d, %s ---\n", path, attempt, name)}
	}
}

// labelled writes a label before the first bytes.
type labelled struct {
	w     io.Writer
	label string
}

func (l *labelled) Write(b []byte) (int, error) {
	label := l.label
	l.label = ""
	if _, err := io.WriteString(l.w, label); err != nil {
		return 0, err
	}
	return l.w.Write(b)
}
