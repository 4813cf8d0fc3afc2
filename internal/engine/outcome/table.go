package outcome

import (
	"errors"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/library"
)

// Row has the codes and texts for errors of one kind.
type Row struct {
	Code   string // of the HTTP API, stable
	Exit   int    // of the command
	Status int    // of the HTTP response
	Answer string // code of the answer to a model, one of the Answer constants
	// Message and Hint are texts of the HTTP API. They contain nothing about the machine. A verb of fmt in them is
	// replaced by the subject. If Message is "", the message of the error itself is used.
	Message, Hint string
	CommandHint   string // the hint on the command line
}

// Report is a Row with the details of an error.
type Report struct {
	Row
	Subject     string                 // the name, or the id of the run, that the error is about
	Near        []string               // similar names that may have been meant
	Note        string                 // for people only: where the tool could have come from
	Lines       []string               // the error as the command line prints it
	Params      []value.ParamProblem   // what is wrong with the parameters
	Diagnostics diagnostic.Diagnostics // what is wrong with the definition
}

// CodeParams is the code of rejected parameters. Clients of the HTTP API check for it.
const CodeParams = "invalid-parameters"

// table has a row for each kind of error that reaches an entry point. If an error wraps several kinds, the first row
// applies. The last row is for all other errors.
var table = []struct {
	kind
	Row
}{
	// The tool and its parameters.
	{as(func(r *Report, e diagnostic.Diagnostics) { r.Diagnostics = e }), Row{"invalid-definition", ExitInvalid, 422, AnswerInvalidDefinition,
		"the tool's definition is invalid", "to list the problems, run flowrun validate on the machine of the service", ""}},
	{as(func(r *Report, e *library.NotFoundError) { r.Subject, r.Near, r.Note = e.Name, e.Near, e.Note }), Row{"unknown-tool", ExitNotFound, 404, AnswerNotFound,
		"there is no tool %q", "GET /api/v1/tools lists the tools", "to list the tools: flowrun tool list"}},
	{as(func(r *Report, e *library.AmbiguousNameError) { r.Subject, r.Near = e.Name, e.Candidates }), Row{"ambiguous-tool", ExitUsage, 404, AnswerNotRun,
		"the name %q means more than one tool", "GET /api/v1/tools lists the names", ""}},
	{as(paramsReport), Row{CodeParams, ExitParams, 422, AnswerNotRun,
		"invalid parameters for tool %s", "GET /api/v1/tools/{name} shows its parameters", ""}},
	{as(func(r *Report, e *plan.StepError) { r.Subject, r.Near = e.Step, e.Near }), Row{"unknown-step", ExitNotFound, 404, AnswerNotRun,
		"the run has no step %q", "", ""}},

	// The run.
	{is(history.ErrNoRun), Row{"unknown-run", ExitNotFound, 404, AnswerNotRun,
		"", "GET /api/v1/runs lists the runs; use the complete id", "to list the runs: flowrun runs"}},
	{is(ErrPath), Row{"tool-path", ExitFailed, 400, AnswerNotRun,
		"", "GET /api/v1/tools lists the names", ""}},
	{is(ErrRefused), Row{"refused", ExitRefused, 403, AnswerNotRun,
		"the approval policy refuses this tool", "the service's log has the reason; to approve the tool yourself, use flowrun run in a terminal", ""}},
	{is(ErrDraining), Row{"draining", ExitServer, 503, AnswerNotRun,
		"", "try again after it has restarted", ""}},
	{is(ErrNotRunning), Row{"not-running", ExitFailed, 409, AnswerNotRun,
		"", "POST /api/v1/runs/{id}/resume resumes the run", ""}},
	{is(ErrNoQuestion), Row{"no-question", ExitFailed, 409, AnswerNotRun,
		"", "GET /api/v1/runs/{id}/questions lists the open questions", ""}},
	{is(ErrManyQuestions), Row{"many-questions", ExitFailed, 409, AnswerNotRun,
		"", "GET /api/v1/runs/{id}/questions lists the open questions", ""}},
	{is(ErrTooLate), Row{"too-late", ExitFailed, 409, AnswerNotRun,
		"", "POST /api/v1/runs/{id}/resume resumes the run", ""}},
	{is(history.ErrAnswered), Row{"answered", ExitFailed, 409, AnswerNotRun,
		"", "the first answer applies", ""}},
	{is(ErrNoSchedule), Row{"unknown-schedule", ExitFailed, 404, AnswerNotRun,
		"", "GET /api/v1/schedules lists the schedules", ""}},
	{is(ErrBackfill), Row{"bad-backfill", ExitUsage, 400, AnswerNotRun,
		"", "choose a range in the past", ""}},
	{is(ErrBackfillRunning), Row{"backfill-running", ExitFailed, 409, AnswerNotRun,
		"", "wait until it has ended, or stop it with DELETE", ""}},
	{as(func(*Report, *NotEditableError) {}), Row{"read-only-definition", ExitRefused, 403, AnswerNotRun,
		"", "change the file on the machine of the service", ""}},
	{is(ErrSourceChanged), Row{"source-changed", ExitFailed, 409, AnswerNotRun,
		"", "read the definition again, then make your change again", ""}},
	{as(func(*Report, *history.AmbiguousError) {}), internal.exit(ExitUsage)},                   // the HTTP API requires full ids
	{is(ErrNoneSuits), internal.exit(ExitFailed).commandHint("to list the runs: flowrun runs")}, // the same
	{is(history.ErrLive), Row{"live", ExitRefused, 409, AnswerNotRun,
		"", "cancel it or wait until it has ended", "wait until it has ended, or stop it with flowrun cancel"}},
	{is(ErrNotStarted), Row{"never-began", ExitFailed, 409, AnswerNotRun,
		"", "POST /api/v1/runs starts a new one", ""}},
	{is(ErrOtherEngine), Row{"other-engine", ExitRefused, 409, AnswerNotRun,
		"", "start its tool again where it was started", "to run its tool again: flowrun temporal run TOOL"}},
	{is(history.ErrChanged), Row{"changed", ExitRefused, 409, AnswerNotRun,
		"", "check the status of the run and try again", ""}},
	{is(history.ErrRetried), Row{"retried", ExitRefused, 409, AnswerNotRun,
		"", "check the status of the run and try again", ""}},
	{as(func(r *Report, e *InterruptedError) { r.Subject = e.Run }), Row{"asks", ExitWaiting, 409, AnswerNotRun,
		"a person must confirm that the interrupted steps run again", "run flowrun resume %s in a terminal", ""}},
	{as(func(r *Report, e *AwaitsAnswerError) { r.Subject = e.Run }), Row{"awaits-answer", ExitWaiting, 409, AnswerWaiting,
		"the run waits for an answer", "POST /api/v1/runs/{id}/approve or /reject answers", ""}},
	{as(func(r *Report, e *WithheldError) { r.Subject = e.Run }), Row{"withheld", ExitRefused, 409, AnswerNotRun,
		"a step to run needs output that was not stored because it is secret", "to produce the output again, run flowrun retry %s --from STEP", ""}},
	{as(func(*Report, *OnlyError) {}), Row{"alone", ExitRefused, 409, AnswerNotRun,
		"the step cannot run alone", "", ""}},

	// What the run needs from the machine.
	{as(func(*Report, *ConfinementError) {}), Row{"confinement", ExitRefused, 403, AnswerNotRun,
		"this machine cannot enforce the tool's security section", "the service's log and flowrun doctor list what is missing", ""}},
	{as(func(*Report, *plan.UnsupportedError) {}), Row{"platform", ExitRefused, 403, AnswerNotRun,
		"", "", ""}},
	{as(func(r *Report, e *call.EnvironmentError) { r.Lines = e.Problems }), environment},
	{is(mask.ErrShortSecret), environment},
	{as(func(r *Report, e *NoStateError) { r.Lines = []string{"refused: " + e.Error()} }), internal.exit(ExitRefused).commandHint("run it without --no-history")}, // a service always has a history
	{as(func(r *Report, e *PoolError) { r.Lines = []string{"refused: " + e.Error()} }), internal.exit(ExitRefused)},
	{as(func(r *Report, e *NoQueueError) { r.Lines = []string{"refused: " + e.Error()} }), internal.exit(ExitRefused).commandHint("run it without --no-history")}, // a service always has a history

	// Errors that a caller of flowrun cannot fix.
	{is(dag.ErrStuck), internal.exit(ExitBug)},
	{is(history.ErrFenced), internal},
	{as(func(*Report, *preview.NotCachedError) {}), internal},
	{unknown, internal},
}

var (
	environment = Row{"environment", ExitParams, 422, AnswerNotRun,
		"the environment of the service does not meet the tool's requirements", "the service's log has the details", ""}
	internal = Row{"internal", ExitFailed, 500, AnswerNotRun,
		"the service could not process the request", "the service's log has the reason", ""}
)

// Codes returns the codes of the HTTP API that errors have. Each has an explain page.
func Codes() []string {
	codes := map[string]bool{}
	for _, row := range table {
		codes[row.Code] = true
	}
	return slices.Sorted(maps.Keys(codes))
}

// ExitOf returns the exit code for a code of the HTTP API. ok is false for codes that do not say what failed.
func ExitOf(code string) (exit int, ok bool) {
	for _, row := range table {
		if row.Code == code && code != internal.Code {
			return row.Exit, true
		}
	}
	return 0, false
}

func (r Row) exit(code int) Row           { r.Exit = code; return r }
func (r Row) commandHint(hint string) Row { r.CommandHint = hint; return r }

// Of returns the report for an error. Safe for concurrent use.
func Of(err error) *Report {
	r := &Report{}
	for _, row := range table {
		if own := row.kind(err, r); own != nil {
			if r.Row = row.Row; r.Message == "" {
				r.Message = own.Error()
			}
			break
		}
	}
	if r.Lines == nil {
		r.Lines = []string{err.Error()}
	}
	return r
}

// kind returns the first error of its kind among those that an error wraps, nil if there is none. It adds the details of
// that error to the report.
type kind func(err error, r *Report) error

// as returns the kind for errors of one type.
func as[E error](add func(r *Report, e E)) kind {
	return func(err error, r *Report) error {
		own, ok := errors.AsType[E](err)
		if !ok {
			return nil
		}
		add(r, own)
		return own
	}
}

// is returns the kind for one error value.
func is(own error) kind {
	return func(err error, _ *Report) error {
		if !errors.Is(err, own) {
			return nil
		}
		return own
	}
}

func unknown(err error, _ *Report) error { return err }

func paramsReport(r *Report, e *value.ParamsError) {
	r.Subject, r.Params = e.Tool, e.Problems
	r.Lines = make([]string, len(e.Problems))
	for i, p := range e.Problems {
		r.Lines[i] = p.Subject() + ": " + p.Message
		if p.Hint != "" {
			r.Lines[i] += "; " + p.Hint
		}
	}
}
