package plan

import (
	"strings"

	"github.com/flowrun/flowrun/dag"
)

// Inside reports whether path is the step itself, or a step inside it.
func Inside(path, step dag.ID) bool {
	rest, ok := strings.CutPrefix(string(path.WithoutAttempts()), string(step.WithoutAttempts()))
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '[')
}
