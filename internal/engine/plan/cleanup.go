package plan

import (
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// ReasonCleanup is the reason of a successful run, or of a successful step that uses a tool, if a cleanup in it failed.
// The message has the details.
const ReasonCleanup = "cleanup"

// MarkFailedCleanup marks a result. The first failed cleanup is kept. A failed run is not marked: its own failure is
// reported.
func MarkFailedCleanup(r *dag.Result, message string) {
	if r.Status == dag.Succeeded && r.Reason == "" {
		r.Reason, r.Message, r.Notes = ReasonCleanup, message, []string{"cleanup failed"}
	}
}

// IsModule reports whether the step is a tool in JavaScript, which may have a cleanup of its own.
func (s *Step) IsModule() bool {
	js, ok := s.Def.Body.(*tool.JSCode)
	return ok && js.Module != nil
}
