// Package runresult has what a run came to, for programs and for people: a [Result] with its steps, made of the state of the run,
// its JSON document, its execution log, and the report that a model gets. Package engine makes a Result at the end of a run, and
// of a recorded one. The functions that set parts of it are for package engine alone.
package runresult

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/permtrace"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/script"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Result is the outcome of a run. Its JSON form is flowrun/run.v1, to which fields are only ever added. It holds no
// secrets.
type Result struct {
	ID       string
	Tool     string
	RetryOf  string     // the run that this one retried
	Attempt  int        // its number among the runs that retry each other, which counts from 1; 0 for a run that retries none
	Origin   string     // of a recorded run: who started it, see WithOrigin
	Status   dag.Status // Waiting if the run waits for an answer, Interrupted if the engine could not bring it to its end
	ExitCode int
	Reason   string
	Message  string
	Notes    []string  // additions to the status, such as how many failures were tolerated
	Started  time.Time // when the run was created
	Ended    time.Time // zero if it has not ended
	LastSign time.Time // of an interrupted run: see history.RunInfo
	// RetryAt is when the run is retried automatically (retry-run), as another run; zero means never. The engine does not wait for
	// it: a program that embeds the engine loads the run then, and continues it with RecordedRun.NextAttempt.
	RetryAt time.Time
	AsOf    time.Time // when this was found out: a run that is live or waiting has taken so long until then
	// Waited is the part of Duration in which the run waited for a person or a time and did nothing else, and Idle
	// that in which it did not wait and had no owner, between an interruption or a failure and the resume.
	Waited time.Duration
	Idle   time.Duration
	Params map[string]any    // as bound, secrets masked
	Labels map[string]string // those of the tool and of the caller, see WithLabels; nil if the run is not recorded
	// Enforced reports that the permissions of the tool are enforced. Unenforced lists those that should be but are
	// not; see Config.AllowUnenforced.
	Enforced   bool
	Unenforced []string
	Withheld   []string // of a recorded run: the parameters that were not recorded because they are secret
	// Definitions are those that the run used, that of the tool first; nil if the run is not recorded.
	Definitions []Definition
	Output      string // at most 10 MB; see WithStdout
	// Outputs are the declared outputs by name, secrets masked; nil if there are none. Numbers are json.Numbers.
	Outputs map[string]any
	// InvalidUTF8 reports that bytes of Output that are not UTF-8 were replaced.
	InvalidUTF8 bool
	Steps       []StepResult // in plan order, a nested tool's steps after the step that uses it
	// Tolerated lists the paths of steps that failed without failing the run.
	Tolerated []string
	// LockDemands lists what the run took at its start, or waits for.
	LockDemands []history.LockDemand
	// Language is the language of messages in the execution log: de, or English. Everything else is English.
	Language string
	// Notices are what people should know beside the status, in the order in which it arose.
	Notices []dag.Notice
	// Permissions says which permissions the run needs, if WithPermissionTrace was given; else nil.
	Permissions *permtrace.Report

	output     *dag.Output
	short      bool             // Output is only the beginning, see WithShortOutput
	structured bool             // the output is a value as JSON
	cause      error            // why the caller's context ended, nil if it did not
	answer     any              // Content of the step that gave the output; nil if there is only the output
	discovered bool             // a discovered tool, whose failures Report describes
	markdown   *tool.Definition // the definition of a Markdown tool, else nil
	notRunLog  []LogEntry       // problems that kept a Markdown tool from running
}

// StepResult is the outcome of one step. Output and Error are its streams up to dag.InlineLimit; if StdoutFile is
// set, that file has all of the output, and StderrFile likewise.
type StepResult struct {
	ID         string
	Status     dag.Status
	ExitCode   int
	Attempts   int
	Fallback   bool
	Output     string
	Error      string
	Outputs    map[string]any // see Result.Outputs
	Reason     string
	Message    string
	Started    time.Time     // of the first attempt
	Ended      time.Time     // zero if it has not ended
	LastSign   time.Time     // of a step that an interrupted run left running: see Result
	Waited     time.Duration // see Result
	Idle       time.Duration // see Result
	Truncated  bool
	StdoutFile string
	StderrFile string
	Problem    *dag.Problem   // why it failed, for programs; nil if Message says it all
	Wait       *dag.Wait      // what a step that is Waiting waits for, else nil
	Usage      dag.Usage      // what the processes of its last attempt used
	Refused    int            // number of connections of its last attempt that its permissions do not grant
	Artifacts  []dag.Artifact // files that were kept; of a loop, group or nested tool only their paths

	limit          int64     // the step's buffer limit
	asOf           time.Time // see Result
	stdout, stderr *dag.Output
}

// maxStepsWithoutGC is how many steps New lists without collecting garbage first.
const maxStepsWithoutGC = 10_000

// New returns the result of a run with that state, without its durations.
func New(id string, p *plan.Plan, params map[string]any, s *dag.State) *Result {
	res := &Result{ID: id, Tool: p.Name(), Status: dag.Interrupted, Params: params, Tolerated: []string{}, discovered: p.CallsProgram()}
	if p.Definition.Format == tool.Markdown {
		res.markdown = p.Definition
	}
	if r := s.Result(); r != nil {
		res.Status, res.ExitCode, res.Reason, res.Message, res.Notes = r.Status, r.ExitCode, r.Reason, r.Message, r.Notes
		res.Started, res.Ended, res.output, res.structured, res.answer = r.Started, r.Ended, r.Stdout, r.Structured, r.Content
		res.Outputs = shownOutputs(r)
	}
	many := 0
	s.All(func(dag.ID, *dag.Node, dag.Status, *dag.Result) { many++ })
	if many > maxStepsWithoutGC { // frees the memory of the run for the list
		runtime.GC()
	}
	res.Notices = s.Notices()
	res.Steps = make([]StepResult, 0, many) // a growing slice would take twice the memory
	s.All(func(path dag.ID, n *dag.Node, status dag.Status, r *dag.Result) {
		if n.Cleanup && status == dag.Succeeded && (r == nil || r.Stdout == nil) {
			return
		}
		res.Steps = append(res.Steps, stepResult(path, n, status, r))
		if r != nil && r.Tolerated {
			res.Tolerated = append(res.Tolerated, string(path))
		}
	})
	return res
}

func stepResult(path dag.ID, n *dag.Node, status dag.Status, r *dag.Result) StepResult {
	sr := StepResult{ID: string(path), Status: status, limit: steps.DefaultLimit}
	if c := baseCommandOf(n.Runner); c != nil && c.Limit > 0 {
		sr.limit = c.Limit
	}
	if r == nil {
		return sr
	}
	sr.ExitCode, sr.Attempts, sr.Fallback = r.ExitCode, r.Attempts, r.Fallback
	sr.Reason, sr.Message, sr.Started, sr.Ended = r.Reason, r.Message, r.Started, r.Ended
	sr.stdout, sr.stderr, sr.Wait, sr.Problem, sr.Usage, sr.Refused = r.Stdout, r.Stderr, r.Wait, r.Problem, r.Usage, int(r.Refused)
	sr.Outputs, sr.Artifacts = shownOutputs(r), r.Artifacts()
	if o := r.Stdout; o != nil {
		sr.Output, sr.StdoutFile, sr.Truncated = o.Inline, o.File, o.Truncated
	}
	if o := r.Stderr; o != nil {
		sr.Error, sr.StderrFile, sr.Truncated = o.Inline, o.File, sr.Truncated || o.Truncated
	}
	return sr
}

// shownOutputs returns the declared outputs of a result, nil if there are none or if what was recorded is damaged.
func shownOutputs(r *dag.Result) map[string]any {
	shown, _ := r.Outputs.Shown()
	return shown
}

// SetWaiting turns the result into that of a waiting run: steps that contain waiting steps are waiting as well.
func SetWaiting(r *Result, open []history.Question) {
	r.Status = dag.Waiting
	MarkHoldersWaiting(r)
	r.Message = WaitsFor(r, open)
}

// WaitsFor says in one line what a waiting run waits for, and which step failed before.
func WaitsFor(r *Result, open []history.Question) string {
	if len(open) == 0 {
		return ""
	}
	text := fmt.Sprintf("step %s waits for approval: %s", open[0].Step, strings.Join(strings.Fields(open[0].Prompt), " "))
	if more := len(open) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	if failed := r.Step(r.FirstFailed()); failed != nil {
		text = fmt.Sprintf("step %s %s; %s", failed.ID, strings.ReplaceAll(failed.Status.String(), "-", " "), text)
	}
	return text
}

// FirstFailed returns the path of the innermost step that failed first, or "" if no step failed. Steps whose failure was
// tolerated do not count.
func (r *Result) FirstFailed() string {
	succeeded := map[dag.ID]bool{} // steps that count as successful although a step inside them failed
	for _, t := range r.Tolerated {
		succeeded[dag.ID(t)] = true
	}
	found := ""
	for _, s := range r.Steps {
		if s.Status == dag.Succeeded {
			succeeded[dag.ID(s.ID)] = true
		}
		failed := s.Status == dag.Failed || s.Status == dag.TimedOut
		if !failed || found != "" && !plan.Inside(dag.ID(s.ID), dag.ID(found)) || succeeded[dag.ID(s.ID)] {
			continue
		}
		if !slices.ContainsFunc(dag.ID(s.ID).Ancestors(), func(outer dag.ID) bool { return succeeded[outer] }) {
			found = s.ID
		}
	}
	return found
}

// MarkHoldersWaiting changes running steps to waiting. In a waiting run nothing executes: such a step only contains a
// waiting one.
func MarkHoldersWaiting(r *Result) {
	for i := range r.Steps {
		if r.Steps[i].Status == dag.Running {
			r.Steps[i].Status = dag.Waiting
		}
	}
}

// Duration returns how long the run took by the wall clock: from Started to Ended, to the last sign of life of an
// interrupted run, or to AsOf of one that is live or waiting. Waited and Idle are part of it.
func (r *Result) Duration() time.Duration { return dag.Span(r.Started, r.Until()) }

// Until returns the end of Duration.
func (r *Result) Until() time.Time { return until(r.Ended, r.LastSign, r.AsOf) }

// Duration is that of Result for one step: 0 if it has not started. It begins with the first attempt.
func (s *StepResult) Duration() time.Duration { return dag.Span(s.Started, s.Until()) }

// Until returns the end of Duration.
func (s *StepResult) Until() time.Time { return until(s.Ended, s.LastSign, s.asOf) }

// until returns the first time that is known.
func until(ended, lastSign, asOf time.Time) time.Time {
	switch {
	case !ended.IsZero():
		return ended
	case !lastSign.IsZero():
		return lastSign
	}
	return asOf
}

// Brief returns a copy in which the output and each stream of a step has at most that many bytes, for a summary of
// the run.
func (r *Result) Brief(most int) *Result {
	brief := *r
	brief.Output, brief.short = value.UpTo(int64(most), r.Output), false
	brief.Steps = slices.Clone(r.Steps)
	for i := range brief.Steps {
		s := &brief.Steps[i]
		s.limit = min(s.limit, int64(most))
		for _, stream := range []struct {
			text, file *string
			of         **dag.Output
		}{{&s.Output, &s.StdoutFile, &s.stdout}, {&s.Error, &s.StderrFile, &s.stderr}} {
			o := *stream.of
			if o == nil {
				continue
			}
			inline := value.UpTo(int64(most), o.Inline)
			*stream.text, *stream.file, *stream.of = inline, "", &dag.Output{Inline: inline, Size: int64(len(inline))}
			s.Truncated = s.Truncated || int64(len(inline)) < o.Size
		}
	}
	return &brief
}

// RunError reports that a run did not succeed.
type RunError struct{ Result *Result }

func (e *RunError) Error() string {
	msg := fmt.Sprintf("run %s of %s is %s", e.Result.ID, e.Result.Tool, e.Result.Status.With(e.Result.Notes...))
	if e.Result.Message != "" {
		msg += ": " + e.Result.Message
	}
	return msg
}

// Unwrap returns the error that package context uses for the same reason: context.DeadlineExceeded for a run that timed
// out, context.Canceled for one that was cancelled. If the context given to Run had ended, its error and its cause are
// returned instead of context.Canceled.
func (e *RunError) Unwrap() []error {
	switch {
	case e.Result.Status == dag.TimedOut:
		return []error{context.DeadlineExceeded}
	case e.Result.Status != dag.Cancelled:
		return nil
	case e.Result.cause != nil:
		return []error{e.Result.cause}
	}
	return []error{context.Canceled}
}

// Err returns nil for a run that succeeded, else a *RunError.
func (r *Result) Err() error {
	if r.Status == dag.Succeeded {
		return nil
	}
	return &RunError{r}
}

// Step returns the result of the step with that path, nil if there is none.
func (r *Result) Step(path string) *StepResult {
	i := slices.IndexFunc(r.Steps, func(s StepResult) bool { return s.ID == path })
	if i < 0 {
		return nil
	}
	return &r.Steps[i]
}

// Decode reads the run's output, which must be JSON, into v. It returns an error if the run did not succeed, because
// its output is then not a result.
func (r *Result) Decode(v any) error {
	if err := r.Err(); err != nil {
		return err
	}
	if strings.TrimSpace(r.Output) == "" {
		return errors.New("cannot decode the run's output: it printed nothing")
	}
	if err := json.Unmarshal([]byte(diagnostic.WithoutMark(r.Output)), v); err != nil {
		return fmt.Errorf("cannot decode the run's output: %w", err)
	}
	return nil
}

// Content returns what the run tells a model and a person: the content of the step that gave the output, if it
// returned any; else the output, if that is a JSON object with llmContent and perhaps returnDisplay, in the form of
// Content's own JSON; else the output as text.
func (r *Result) Content() *gostep.Content {
	if c, ok := r.answer.(*gostep.Content); ok {
		return c
	}
	if c := gostep.ReadContent(r.Output); c != nil {
		return c
	}
	return &gostep.Content{Parts: []gostep.Part{{Text: r.Output + r.truncationNote()}}}
}

// truncationNote returns a note that the output is truncated, "" if it is complete: a model would take a truncated
// text for the whole.
func (r *Result) truncationNote() string {
	if r.output == nil || r.output.Size <= steps.DefaultLimit || len(r.Output) < steps.DefaultLimit-utf8.UTFMax {
		return ""
	}
	return fmt.Sprintf("\n[truncated: the output has %d bytes; to see all of it: flowrun logs %s]", r.output.Size, r.ID)
}

// CleanupFailed returns the paths of the cleanups that failed; for a tool in JavaScript, whose cleanup is a part of it, that
// of its step.
func (r *Result) CleanupFailed() []string {
	var list []string
	for _, s := range r.Steps {
		if slices.ContainsFunc(r.Notices, func(n dag.Notice) bool { return n.Code == notice.CleanupFailed && string(n.Step) == s.ID }) {
			list = append(list, s.ID)
			continue
		}
		failed := dag.ID(s.ID).Base() == plan.CleanupID && (s.Status == dag.Failed || s.Status == dag.TimedOut)
		marked := s.Status == dag.Succeeded && s.Reason == plan.ReasonCleanup
		if failed || marked && !slices.ContainsFunc(r.Steps, func(in StepResult) bool { return strings.HasPrefix(in.ID, s.ID+"/") }) {
			list = append(list, s.ID)
		}
	}
	return list
}

// baseCommandOf returns the settings, such as limits, that a Runner of a plan has around its command or script; nil
// for others.
func baseCommandOf(r dag.Runner) *steps.Command {
	if js, ok := plan.Innermost(r).(*script.Runner); ok {
		return js.Base
	}
	return plan.CommandOf(r)
}

// SetCause records why the context of the caller ended; Err returns it too.
func SetCause(r *Result, cause error) { r.cause = cause }

// SetAsOf records until when a step that has not ended has taken so long.
func SetAsOf(s *StepResult, at time.Time) { s.asOf = at }

// OutputOf returns the stream that the output of the run is, nil if it has none.
func OutputOf(r *Result) *dag.Output { return r.output }

// Printed reports whether the stream is the stdout of the step.
func Printed(s *StepResult, o *dag.Output) bool { return s.stdout == o }

// Structured reports whether the output of the run is a value as JSON.
func Structured(r *Result) bool { return r.structured }

// Shorten sets the output to the part of it that is in memory.
func Shorten(r *Result) { r.Output, r.short = r.output.Inline, true }

// ReadOutput sets the output to all of it, up to the limit of a step.
func ReadOutput(r *Result) {
	r.Output, _, r.InvalidUTF8 = readStream(r.output, steps.DefaultLimit)
}
