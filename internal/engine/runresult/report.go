package runresult

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// maxReported limits each stream in a report, in bytes: half from its beginning and half from its end.
const maxReported = 64 << 10

// Report describes how a call of a discovered tool failed, in five lines for a model: both streams, an error of the
// call itself, exit code and signal. why is the error of a call that was stopped, for a caller that knows it better
// than the run. Report is "" for other tools, and for calls that succeeded.
func (r *Result) Report(why string) string {
	if !r.discovered || r.Status == dag.Succeeded || len(r.Steps) == 0 {
		return ""
	}
	s := &r.Steps[0]
	signal := steps.SignalIn(s.Message)
	code, said := strconv.Itoa(s.ExitCode), s.Message
	switch {
	case signal != "":
		code, said = "", ""
	case s.Status == dag.Failed && !ranToItsEnd(s):
		code, said = "", cmp.Or(s.Message, s.Reason)
	case s.Status != dag.Failed:
		code, said = "", cmp.Or(why, s.Message, s.Reason, r.Message)
	}
	return fmt.Sprintf("Stdout: %s\nStderr: %s\nError: %s\nExit Code: %s\nSignal: %s",
		cmp.Or(streamExcerpt(s.stdout), "(empty)"), cmp.Or(streamExcerpt(s.stderr), "(empty)"),
		cmp.Or(said, "(none)"), cmp.Or(code, "(none)"), cmp.Or(signal, "(none)"))
}

// ranToItsEnd reports whether the exit code is that of the program itself.
func ranToItsEnd(s *StepResult) bool {
	return s.Status == dag.Succeeded || s.Status == dag.Failed && s.Reason == dag.ReasonExit || s.Reason == steps.ReasonOutputTooLarge
}

// streamExcerpt returns a stream as it appears in a report.
func streamExcerpt(o *dag.Output) string {
	text, _, _ := readStream(o, steps.DefaultLimit)
	text = strings.TrimRight(text, "\n")
	if len(text) <= maxReported {
		return text
	}
	head, tail := value.UpTo(maxReported/2, text), text[len(text)-maxReported/2:]
	tail = strings.ToValidUTF8(tail, "")
	return fmt.Sprintf("%s\n... (%d bytes omitted) ...\n%s", head, len(text)-len(head)-len(tail), tail)
}
