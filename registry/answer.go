package registry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/outcome"
)

// Status is the execution_status of an Answer.
type Status string

// The statuses.
const (
	Succeeded Status = "success"
	Failed    Status = "error"     // there is no such tool, it failed, or its run is waiting or interrupted
	Refused   Status = "refused"   // the arguments, the rules, or a person rejected the call
	Stopped   Status = "cancelled" // by the caller, or by the person who was asked
	TimedOut  Status = "timeout"
)

// Error describes why a call did not succeed.
type Error struct {
	Code           string          `json:"code"` // docs/reference/calls.md lists the codes
	Message        string          `json:"message"`
	OriginalError  string          `json:"original_error,omitempty"` // see Refusal
	Offset         *int            `json:"offset,omitempty"`         // position in the arguments, if these were rejected
	ExpectedFormat json.RawMessage `json:"expected_format,omitempty"`
	Hint           string          `json:"hint,omitempty"`
	Suggestions    []string        `json:"suggestions,omitempty"`
	// DocumentationLink is the address of a page about the tool, if Options.Refused has set one.
	DocumentationLink string `json:"documentation_link,omitempty"`
	ExitCode          int    `json:"exit_code,omitempty"` // of a run that failed
	Retryable         bool   `json:"retryable,omitempty"` // the tool reports that a further attempt may help
	// Permissions are those that a rejected call would have had, with real paths; see flowrun.Permission.
	Permissions []string `json:"permissions,omitempty"`
}

// Answer is the answer to a call. Its JSON form is what flowrun call prints; docs/reference/calls.md describes it. It holds no
// secrets.
type Answer struct {
	Status    Status
	Tool      string // the tool that was executed; "" if none was
	Repaired  bool
	Repairs   []Repair
	Defaults  []string
	Coercions []Repair
	Content   *flowrun.Content // for the model and for a person; never nil
	Error     *Error           // nil for success
	Run       string           // id of the run; "" for none
	// Warnings are the notices of the run that may have changed its result, such as a failed cleanup or a value that was
	// missing, as lines for the model.
	Warnings []string

	// Advice says what a person can do, such as how to allow a refused call; "" for nothing. It is not in the JSON form,
	// because a model that reads it could do that itself.
	Advice string

	Result *flowrun.Result // nil if nothing was executed
	Err    error           // the Go error that led to Error, if there was one

	outputs json.RawMessage // the declared outputs, if the schema of the tool describes them
}

// answerOf starts the answer to a call whose arguments are valid.
func answerOf(i *Invocation) *Answer {
	return &Answer{Repaired: i.Repaired, Repairs: i.Repairs, Defaults: i.Defaults, Coercions: i.Coercions}
}

// MarshalJSON writes the JSON document. It joins its parts as bytes, because content may be many megabytes large.
func (a *Answer) MarshalJSON() ([]byte, error) {
	head, err := encode(struct {
		Schema    string   `json:"schema"`
		Status    Status   `json:"execution_status"`
		Tool      *string  `json:"tool_executed"`
		Tolerant  bool     `json:"tolerant_parsing"`
		Repaired  bool     `json:"repaired"`
		Repairs   []Repair `json:"repairs"`
		Defaults  []string `json:"defaults_applied"`
		Coercions []Repair `json:"coercions"`
	}{"flowrun/call.v1", a.Status, orNull(a.Tool), true, a.Repaired, orEmpty(a.Repairs), orEmpty(a.Defaults), orEmpty(a.Coercions)})
	if err != nil {
		return nil, err
	}
	content, err := a.Content.MarshalJSON()
	if err != nil {
		return nil, err
	}
	tail, err := encode(struct {
		Outputs  json.RawMessage `json:"outputs,omitempty"`
		Error    *Error          `json:"error"`
		Run      *string         `json:"run"`
		Warnings []string        `json:"warnings,omitempty"`
	}{a.outputs, a.Error, orNull(a.Run), a.Warnings})
	if err != nil {
		return nil, err
	}
	return slices.Concat(head[:len(head)-1], []byte(","), inner(content), []byte(","), tail[1:]), nil
}

// inner returns the text between the braces of an object.
func inner(object []byte) []byte {
	object = bytes.TrimSpace(object)
	return object[1 : len(object)-1]
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// encode returns JSON without the escapes that only HTML pages need.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// statusOf returns the status of an answer with an error of that code.
func statusOf(code string) Status { return Status(outcome.AnswerOf(code).Status) }

// failed completes the answer with an error, which model and person see in the same words.
func (a *Answer) failed(e *Error) *Answer {
	text := "Error: " + e.Message
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	if len(e.Suggestions) > 0 {
		text += fmt.Sprintf("; did you mean %q?", e.Suggestions[0])
	}
	a.Status, a.Error, a.Content = statusOf(e.Code), e, flowrun.TextContent(text, "")
	return a
}

// invalidArguments returns the answer to a call whose arguments were rejected.
func invalidArguments(r *Refusal) *Answer {
	return &Answer{Status: statusOf(r.Code), Content: flowrun.TextContent(r.reason(), ""), Err: r,
		Error: &Error{Code: r.Code, Message: r.Message, OriginalError: r.OriginalError, Offset: &r.Offset, ExpectedFormat: r.ExpectedFormat, Hint: r.Hint,
			Suggestions: r.Suggestions, DocumentationLink: r.DocumentationLink}}
}

// refusedHint is what a model can do after a refusal. It names no flag or command that would allow the call, because a
// model with a shell could use it.
const refusedHint = "do not repeat the call; continue without it, or tell the person what you need it for"

// refused completes the answer to a rejected call, with the permissions that it would have had.
func (a *Answer) refused(i *Invocation, code string, j Decision) *Answer {
	e := &Error{Code: code, Message: cutText("the call was refused: "+j.Reason, maxErrorText), Hint: cmp.Or(j.Hint, refusedHint)}
	if p, err := i.Preview(); err == nil { // an error of the preview must not hide that the call was rejected
		e.Permissions = p.Permissions()
	}
	return a.failed(e).advise(j.Advice)
}

// advise adds a text for a person.
func (a *Answer) advise(advice string) *Answer {
	a.Advice = advice
	return a
}

// notRun completes the answer to a call that could not be started.
func (a *Answer) notRun(err error) *Answer {
	a.Err = err
	return a.failed(&Error{Code: outcome.AnswerNotRun, Message: cutText(err.Error(), maxErrorText)})
}

// cancelled completes the answer to a call that was cancelled before anything ran.
func (a *Answer) cancelled(ctx context.Context) *Answer {
	message := "the call was cancelled; nothing ran"
	if cause := context.Cause(ctx); cause != nil && cause != context.Canceled {
		message += ": " + cause.Error()
	}
	return a.failed(&Error{Code: outcome.AnswerCancelled, Message: message})
}

func (a *Answer) tooLong(limit time.Duration) *Answer {
	return a.failed(&Error{Code: outcome.AnswerTimeout, Message: fmt.Sprintf("the call took longer than %v and was stopped before anything ran", limit)})
}

// withResult completes the answer with the result of the run.
func (a *Answer) withResult(res *flowrun.Result, tooLong bool, limit time.Duration) *Answer {
	e := &Error{Code: outcome.AnswerFailed, Message: res.Message, ExitCode: res.ExitCode}
	a.Error = e
	for _, line := range notice.Lines(notice.ForModel(res.Notices)) {
		a.Warnings = append(a.Warnings, cutText(line, maxErrorText))
	}
	switch {
	case res.Status == dag.Succeeded || res.Status == dag.Reused:
		a.Status, a.Error, a.Content = Succeeded, nil, res.Content()
		return a
	case res.Status == dag.Waiting:
		return a.failed(&Error{Code: outcome.AnswerWaiting, Message: fmt.Sprintf("the run is waiting for a person: %s", res.Message),
			Hint: "a person answers it; do not call the tool again"}).
			advise(fmt.Sprintf("Approve it with: flowrun approve %s\nReject it with: flowrun reject %[1]s\nShow its result with: flowrun show %[1]s", res.ID))
	case res.Status == dag.Interrupted:
		return a.failed(&Error{Code: outcome.AnswerInterrupted, Message: fmt.Sprintf("the run was interrupted: %s", interruptionReason(res, a.Err)),
			Hint: "a person can resume it; do not call the tool again"}).
			advise(fmt.Sprintf("Resume it with: flowrun resume %s", res.ID))
	case ranOutOfTime(res):
		e.Code = outcome.AnswerTimeout
	case tooLong:
		e.Code, e.ExitCode = outcome.AnswerTimeout, 0
		e.Message = fmt.Sprintf("the call took longer than %v and was stopped", limit)
		e.Hint = "this is the time limit of calls; a person can raise it"
		return a.unsuccessful(res).advise("The limit is set by --timeout, or by limits.call-timeout in config.yaml.")
	case res.Status == dag.Cancelled:
		e.Code, e.ExitCode = outcome.AnswerCancelled, 0
	}
	return a.unsuccessful(res)
}

// ranOutOfTime reports whether the tool exceeded its own time limit. For a tool with one step, the limit of that step
// counts as well.
func ranOutOfTime(res *flowrun.Result) bool {
	return res.Status == dag.TimedOut || res.Status == dag.Failed && len(res.Steps) == 1 && res.Steps[0].Status == dag.TimedOut
}

// interruptionReason returns why a run could not be brought to its end.
func interruptionReason(res *flowrun.Result, err error) string {
	if res.Message == "" && err != nil {
		return err.Error()
	}
	return res.Message
}
