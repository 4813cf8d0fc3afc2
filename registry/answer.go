package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/outcome"
)

// Status is execution_status of an Answer.
type Status string

// The statuses.
const (
	Succeeded Status = "success"
	Failed    Status = "error"     // there is no such tool, or it failed, or its run rests
	Refused   Status = "refused"   // by the reading of the arguments, the rules, or a person
	Stopped   Status = "cancelled" // by the caller, or by the person who was asked
	TimedOut  Status = "timeout"
)

// Codes of an Error beside those of a Refusal.
const (
	CodeNotFound          = outcome.AnswerNotFound          // no tool has that name
	CodeInvalidDefinition = outcome.AnswerInvalidDefinition // the tool cannot be compiled
	CodeNotApproved       = outcome.AnswerNotApproved       // the rules refuse the call, or nobody can be asked
	CodeDeclined          = outcome.AnswerDeclined          // a person said no
	CodeNotRun            = outcome.AnswerNotRun            // something kept it from being run
	CodeFailed            = outcome.AnswerFailed            // the run failed
	CodeTimeout           = outcome.AnswerTimeout           // the call, or the run, took longer than it may
	CodeCancelled         = outcome.AnswerCancelled
	CodeWaiting           = outcome.AnswerWaiting     // the run rests until a person answers
	CodeInterrupted       = outcome.AnswerInterrupted // the run rests until somebody goes on with it
)

// Error is why a call did not succeed.
type Error struct {
	Code           string          `json:"code"`
	Message        string          `json:"message"`
	Offset         *int            `json:"offset,omitempty"` // in the arguments, where these were refused
	ExpectedFormat json.RawMessage `json:"expected_format,omitempty"`
	Hint           string          `json:"hint,omitempty"`
	Suggestions    []string        `json:"suggestions,omitempty"`
	ExitCode       int             `json:"exit_code,omitempty"` // of a run that failed
	Retryable      bool            `json:"retryable,omitempty"` // the tool says that trying again may help
	// Permissions are those that a refused call would have had, where they really lead; see
	// flowrun.Permission.
	Permissions []string `json:"permissions,omitempty"`
}

// Answer is what a call is answered. Its JSON form is what flowrun call prints; docs/calls.md
// describes it. Nothing in it is secret.
type Answer struct {
	Status    Status
	Tool      string // that was executed; "" where nothing was
	Repaired  bool
	Repairs   []Repair
	Defaults  []string
	Coercions []Repair
	Content   *flowrun.Content // for the model and for a person; never nil
	Error     *Error           // nil for success
	Run       string           // id of the run; "" for none
	Warnings  []string         // of a call that succeeded: a cleanup that failed

	Result *flowrun.Result // nil where nothing was executed
	Err    error           // what was behind Error, where that was an error; else nil
}

// answerOf begins the answer of a call whose arguments are valid.
func answerOf(i *Invocation) *Answer {
	return &Answer{Repaired: i.Repaired, Repairs: i.Repairs, Defaults: i.Defaults, Coercions: i.Coercions}
}

// MarshalJSON writes the document. Its parts are put together as they are: content may be
// many megabytes.
func (a *Answer) MarshalJSON() ([]byte, error) {
	head, err := encode(struct {
		Status    Status   `json:"execution_status"`
		Tool      *string  `json:"tool_executed"`
		Tolerant  bool     `json:"tolerant_parsing"`
		Repaired  bool     `json:"repaired"`
		Repairs   []Repair `json:"repairs"`
		Defaults  []string `json:"defaults_applied"`
		Coercions []Repair `json:"coercions"`
	}{a.Status, orNull(a.Tool), true, a.Repaired, orEmpty(a.Repairs), orEmpty(a.Defaults), orEmpty(a.Coercions)})
	if err != nil {
		return nil, err
	}
	content, err := a.Content.MarshalJSON()
	if err != nil {
		return nil, err
	}
	tail, err := encode(struct {
		Error    *Error   `json:"error"`
		Run      *string  `json:"run"`
		Warnings []string `json:"warnings,omitempty"`
	}{a.Error, orNull(a.Run), a.Warnings})
	if err != nil {
		return nil, err
	}
	return slices.Concat(head[:len(head)-1], []byte(","), inner(content), []byte(","), tail[1:]), nil
}

// inner is what stands between the braces of an object.
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

// encode is JSON without the escapes that are for web pages only.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// statusOf is the status of an answer with an error.
func statusOf(code string) Status { return Status(outcome.AnswerOf(code).Status) }

// failed ends the answer with an error, which model and person are told as it stands.
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

// invalidArguments answers a call whose arguments were refused.
func invalidArguments(r *Refusal) *Answer {
	return &Answer{Status: statusOf(r.Code), Content: flowrun.TextContent(r.reason(), ""), Err: r,
		Error: &Error{Code: r.Code, Message: r.Message, Offset: &r.Offset, ExpectedFormat: r.ExpectedFormat, Hint: r.Hint, Suggestions: r.Suggestions}}
}

// refused answers a call that somebody said no to, with the permissions it would have had.
func (a *Answer) refused(i *Invocation, code string, j Decision) *Answer {
	e := &Error{Code: code, Message: cutText("the call was refused: "+j.Reason, maxTold), Hint: j.Hint}
	if p, err := i.Preview(); err == nil { // what keeps the tool from running is no reason not to answer
		e.Permissions = p.Permissions()
	}
	return a.failed(e).advise(j.Advice)
}

// advise adds what only a person is told.
func (a *Answer) advise(advice string) *Answer {
	if advice != "" {
		a.Content.Display = a.Content.Text() + "\n\n" + advice
	}
	return a
}

// notRun answers a call that could not be begun.
func (a *Answer) notRun(err error) *Answer {
	a.Err = err
	return a.failed(&Error{Code: CodeNotRun, Message: cutText(err.Error(), maxTold)})
}

// cancelled answers a call that was called off before anything ran.
func (a *Answer) cancelled(ctx context.Context) *Answer {
	message := "the call was cancelled; nothing ran"
	if cause := context.Cause(ctx); cause != nil && cause != context.Canceled {
		message += ": " + cause.Error()
	}
	return a.failed(&Error{Code: CodeCancelled, Message: message})
}

func (a *Answer) tooLong(limit time.Duration) *Answer {
	return a.failed(&Error{Code: CodeTimeout, Message: fmt.Sprintf("the call took longer than %v and was stopped before anything ran", limit)})
}

// told answers what came of the run.
func (a *Answer) told(res *flowrun.Result, tooLong bool, limit time.Duration) *Answer {
	e := &Error{Code: CodeFailed, Message: res.Message, ExitCode: res.ExitCode}
	a.Error = e
	switch {
	case res.Status == dag.Succeeded || res.Status == dag.Reused:
		a.Status, a.Error, a.Content = Succeeded, nil, res.Content()
		if res.Reason == flowrun.ReasonCleanup {
			a.Warnings = []string{cutText("the call succeeded, but its cleanup failed: "+res.Message, maxTold)}
		}
		return a
	case res.Status == dag.Waiting:
		return a.failed(&Error{Code: CodeWaiting, Message: fmt.Sprintf("the run is waiting for a person: %s", res.Message),
			Hint: "a person answers it; do not call the tool again"}).
			advise(fmt.Sprintf("Approve it with: flowrun approve %s\nReject it with: flowrun reject %[1]s\nShow its result with: flowrun show %[1]s", res.ID))
	case res.Status == dag.Interrupted:
		return a.failed(&Error{Code: CodeInterrupted, Message: fmt.Sprintf("the run was interrupted: %s", whyOf(res, a.Err)),
			Hint: "a person can resume it; do not call the tool again"}).
			advise(fmt.Sprintf("Resume it with: flowrun resume %s", res.ID))
	case ranOutOfTime(res):
		e.Code = CodeTimeout
	case tooLong:
		e.Code, e.ExitCode = CodeTimeout, 0
		e.Message = fmt.Sprintf("the call took longer than %v and was stopped", limit)
		e.Hint = "this is the time limit of calls; a person can raise it"
		return a.unsuccessful(res).advise("The limit is set by --timeout, or by limits.call-timeout in config.yaml.")
	case res.Status == dag.Cancelled:
		e.Code, e.ExitCode = CodeCancelled, 0
	}
	return a.unsuccessful(res)
}

// ranOutOfTime is whether the tool reached a bound of its own. Of a tool with one step the
// step's bound is the tool's.
func ranOutOfTime(res *flowrun.Result) bool {
	return res.Status == dag.TimedOut || res.Status == dag.Failed && len(res.Steps) == 1 && res.Steps[0].Status == dag.TimedOut
}

// whyOf is why a run could not be brought to its end.
func whyOf(res *flowrun.Result, err error) string {
	if res.Message == "" && err != nil {
		return err.Error()
	}
	return res.Message
}
