package registry

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
)

// Limits for the description of a failure that a model gets, in bytes.
const (
	maxErrorText = 1500 // a message
	maxName      = 120
	maxStream    = 4 << 10 // from the end of a stream
)

// unsuccessful completes the answer with a run that failed, or was stopped, so that a model can react to it: the
// reason, the exit code, and the ends of the failed step's streams.
func (a *Answer) unsuccessful(res *flowrun.Result) *Answer {
	a.Status = statusOf(a.Error.Code)
	step := culprit(res)
	if step != nil {
		a.Error.Message = withReason(a.Error.Message, res.Tool, step)
	}
	if step != nil && step.Problem != nil {
		a.Error.Hint, a.Error.Retryable = step.Problem.Solution, step.Problem.Retryable
	}
	a.Error.Message = cutText(a.Error.Message, maxErrorText)
	switch {
	case a.Error.Message != "":
	case a.Status == TimedOut:
		a.Error.Message = "it exceeded its own time limit"
	default:
		a.Error.Message = fmt.Sprintf("the run is %s", res.Status)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Error: tool %s %s: %s\n", res.Tool, outcomeVerb(a), a.Error.Message)
	if a.Error.ExitCode != 0 {
		fmt.Fprintf(&b, "Exit code: %d\n", a.Error.ExitCode)
	}
	if a.Error.Hint != "" {
		fmt.Fprintf(&b, "Hint: %s\n", a.Error.Hint)
	}
	if step != nil {
		writeStreamEnd(&b, "Stdout", step.Output, step.StdoutFile)
		writeStreamEnd(&b, "Stderr", step.Error, step.StderrFile)
	}
	text := strings.TrimRight(b.String(), "\n")
	if report := res.Report(a.Error.Message); report != "" { // models know this form from other programs
		text = report
	}
	a.Content = flowrun.TextContent(text, "")
	return a
}

// withReason adds the reason of the step to the message. If the step is the whole tool, its message is enough.
func withReason(message, name string, step *flowrun.StepResult) string {
	switch {
	case step.Message == "":
		return message
	case step.ID == name && strings.HasPrefix(message, "step "+name+" "), message == "":
		return step.Message
	case strings.Contains(message, step.Message):
		return message
	}
	return message + ": " + step.Message
}

func outcomeVerb(a *Answer) string {
	switch a.Status {
	case TimedOut:
		return "timed out"
	case Stopped:
		return "was cancelled"
	}
	return "failed"
}

// culprit returns the first step that failed, or else was cancelled; if that is a group, the step inside it. It is
// nil if there is none.
func culprit(res *flowrun.Result) (found *flowrun.StepResult) {
	for _, bad := range [][]dag.Status{{dag.Failed, dag.TimedOut}, {dag.Cancelled}} {
		for i := range res.Steps {
			s := &res.Steps[i]
			if s.Status != bad[0] && s.Status != bad[len(bad)-1] || slices.Contains(res.Tolerated, s.ID) {
				continue
			}
			if found == nil || strings.HasPrefix(s.ID, found.ID+"/") || strings.HasPrefix(s.ID, found.ID+"[") {
				found = s
			}
		}
		if found != nil {
			break
		}
	}
	return found
}

// writeStreamEnd adds the end of a stream, because most programs print their errors last.
func writeStreamEnd(b *strings.Builder, name, inline, file string) {
	text, cut := streamEnd(inline, file)
	if text = strings.TrimRight(text, "\r\n"); text == "" {
		return
	}
	if cut {
		name += " (end)"
	}
	fmt.Fprintf(b, "%s:\n%s\n", name, text)
}

// streamEnd returns the end of what a step printed, from its log if there is one.
func streamEnd(inline, file string) (text string, cut bool) {
	if f, err := os.Open(file); file != "" && err == nil {
		defer f.Close()
		if size, err := f.Seek(0, io.SeekEnd); err == nil {
			from := max(0, size-maxStream)
			if tail, err := io.ReadAll(io.NewSectionReader(f, from, maxStream)); err == nil {
				inline, cut = string(tail), from > 0
			}
		}
	}
	if len(inline) > maxStream {
		inline, cut = inline[len(inline)-maxStream:], true
	}
	return strings.ToValidUTF8(inline, "\uFFFD"), cut
}
