package plan

import (
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/steps"
)

// Mention notes which stream of which step a reference reads.
func Mention(kept map[string]steps.Streams, r expr.Ref) {
	if r.Class == expr.Step {
		kept[r.Root] |= Read(r)
	}
}

// Read is the stream a reference to a step, or to the last try, reads.
func Read(r expr.Ref) steps.Streams {
	if r.Class != expr.Step && r.Class != expr.Last || len(r.Path) == 0 {
		return 0
	}
	switch r.Path[0].Field {
	case "output", "stdout", "json", "value":
		return steps.Stdout
	case "error", "stderr":
		return steps.Stderr
	}
	return 0
}

// AnyArgument stands among the parameters that a step uses for all there are, and for
// those that are not declared.
const AnyArgument = "*"
