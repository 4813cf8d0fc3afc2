package console

import "github.com/flowrun/flowrun/dag"

// StatusStyle is how a state is shown beside its word: a glyph of one column, and colors for
// terminals and drawings. Color is never the only way in which something is shown.
type StatusStyle struct {
	Glyph, ASCII string
	Color        string // escape sequence
	Fill, Line   string // of a box
}

// StyleOf returns the style of a state.
func StyleOf(s dag.Status) StatusStyle { return statusStyles[s] }

var statusStyles = map[dag.Status]StatusStyle{
	dag.Pending:     {"○", ".", dim, "#ffffff", "#999999"},
	dag.Running:     {"●", ">", cyan, "#d6eaf8", "#2471a3"},
	dag.Retrying:    {"↻", "~", yellow, "#fdf2d0", "#b7950b"},
	dag.Waiting:     {"◷", "?", yellow, "#fdf2d0", "#b7950b"},
	dag.Succeeded:   {"✔", "+", green, "#d5f5e3", "#1e8449"},
	dag.Reused:      {"≡", "=", green, "#e8f8f5", "#1e8449"},
	dag.Failed:      {"✖", "x", red, "#fadbd8", "#b03a2e"},
	dag.Skipped:     {"⊘", "-", dim, "#f2f3f4", "#999999"},
	dag.Cancelled:   {"⊗", "/", yellow, "#f2f3f4", "#b7950b"},
	dag.TimedOut:    {"✖", "x", red, "#fadbd8", "#b03a2e"},
	dag.Interrupted: {"↯", "!", red, "#fadbd8", "#b03a2e"},
}

const cyan = "\x1b[36m"
