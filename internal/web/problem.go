package web

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/mask"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/tool"
)

// problem is an error as the caller is told of it: {"error": {...}}. It holds what the
// caller did and what is on record of runs, but no path of the machine, no setting and no
// secret: those stand in the cause, which is logged.
type problem struct {
	status int
	header []string // one header, its name and value
	cause  error

	Code     string                 `json:"code"`
	Message  string                 `json:"message"`
	Hint     string                 `json:"hint,omitempty"`
	Problems []flowrun.ParamProblem `json:"problems,omitempty"`
}

func (p *problem) Error() string { return p.Message }
func (p *problem) Unwrap() error { return p.cause }

// refuse is a problem with the request.
func refuse(status int, code, message, hint string) *problem {
	return &problem{status: status, Code: code, Message: message, Hint: hint}
}

var (
	errNoRoute = refuse(404, "not-found", "there is nothing at this address", "GET /api/v1/openapi.json lists every route")
	errToken   = &problem{status: 401, header: []string{"WWW-Authenticate", `Bearer realm="flowrun"`}, Code: "unauthorized",
		Message: "the token is absent or wrong", Hint: "send the header Authorization: Bearer TOKEN, with the token that flowrun serve was started with"}
	errNoRun = refuse(404, "unknown-run", "there is no such run", "GET /api/v1/runs lists them; ids are given whole")
)

func wrongMethod(method string, allowed []string) *problem {
	slices.Sort(allowed)
	list := strings.Join(allowed, ", ")
	return &problem{status: 405, header: []string{"Allow", list}, Code: "wrong-method",
		Message: fmt.Sprintf("%.20q is not how this address is asked", method), Hint: "use " + list}
}

// problemOf is how the caller is told of an error.
func problemOf(err error) *problem {
	var (
		p        *problem
		noTool   *tool.NotFoundError
		params   *flowrun.ParamsError
		step     *flowrun.StepError
		diags    tool.Diagnostics
		asks     *flowrun.InterruptedError
		withheld *flowrun.WithheldError
		alone    *flowrun.AloneError
		confined *flowrun.ConfinementError
		platform *flowrun.UnsupportedError
		environ  *flowrun.EnvironmentError
	)
	tell := func(status int, code, message, hint string) *problem {
		return &problem{status: status, cause: err, Code: code, Message: message, Hint: hint}
	}
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &noTool):
		return tell(404, "unknown-tool", fmt.Sprintf("there is no tool %q", clip(noTool.Name)), near(noTool.Near, "GET /api/v1/tools lists them"))
	case errors.As(err, &params):
		p := tell(422, "invalid-parameters", fmt.Sprintf("the parameters do not fit the tool %s", params.Tool), "GET /api/v1/tools/{name} tells which it takes")
		p.Problems = params.Problems
		return p
	case errors.As(err, &step):
		return tell(404, "unknown-step", fmt.Sprintf("the run has no step %q", clip(step.Step)), near(step.Near, ""))
	case errors.As(err, &diags):
		p := tell(422, "invalid-definition", "the tool's definition cannot be used", "flowrun validate, on the machine of the service, tells more")
		for _, d := range diags {
			if d.Severity == tool.Error {
				p.Problems = append(p.Problems, flowrun.ParamProblem{Name: d.Path, Code: d.Code, Message: fmt.Sprintf("line %d", d.Pos.Line), Hint: "flowrun explain " + d.Code})
			}
		}
		return p
	case errors.Is(err, flowrun.ErrNoRun):
		return tell(404, errNoRun.Code, errNoRun.Message, errNoRun.Hint)
	case errors.Is(err, service.ErrPath):
		return tell(400, "tool-path", service.ErrPath.Error(), "GET /api/v1/tools lists the names")
	case errors.Is(err, service.ErrRefused):
		return tell(403, "refused", "the approval policy refuses this tool", "the service's log says why; what it asks a person about runs from a terminal, with flowrun run")
	case errors.Is(err, service.ErrDraining):
		p := tell(503, "draining", service.ErrDraining.Error(), "ask again when it has started anew")
		p.header = []string{"Retry-After", "5"}
		return p
	case errors.Is(err, service.ErrNotRunning):
		return tell(409, "not-running", service.ErrNotRunning.Error(), "POST /api/v1/runs/{id}/resume goes on with it")
	case errors.Is(err, service.ErrNoQuestion):
		return tell(409, "no-question", service.ErrNoQuestion.Error(), "GET /api/v1/runs/{id}/questions lists what is asked")
	case errors.Is(err, service.ErrManyQuestions):
		return tell(409, "many-questions", service.ErrManyQuestions.Error(), "GET /api/v1/runs/{id}/questions lists what is asked")
	case errors.Is(err, service.ErrTooLate):
		return tell(409, "too-late", service.ErrTooLate.Error(), "POST /api/v1/runs/{id}/resume goes on with the run")
	case errors.Is(err, flowrun.ErrAnswered):
		return tell(409, "answered", flowrun.ErrAnswered.Error(), "the first answer stands")
	case errors.Is(err, service.ErrNoSchedule):
		return tell(404, "unknown-schedule", service.ErrNoSchedule.Error(), "GET /api/v1/schedules lists them")
	case errors.Is(err, flowrun.ErrLive):
		return tell(409, "live", flowrun.ErrLive.Error(), "cancel it, or wait until it has ended")
	case errors.Is(err, flowrun.ErrNeverBegan):
		return tell(409, "never-began", flowrun.ErrNeverBegan.Error(), "POST /api/v1/runs starts a new one")
	case errors.Is(err, flowrun.ErrChanged):
		return tell(409, "changed", flowrun.ErrChanged.Error(), "look at the run again")
	case errors.As(err, &asks):
		return tell(409, "asks", "steps were interrupted that are to run again only when a person says so", fmt.Sprintf("flowrun resume %s asks at a terminal", asks.Run))
	case errors.As(err, &withheld):
		return tell(409, "withheld", "steps that are to run read what was secret and not kept", fmt.Sprintf("flowrun retry %s --from STEP lets those run again", withheld.Run))
	case errors.As(err, &alone):
		return tell(409, "alone", "the step cannot run by itself", "")
	case errors.As(err, &confined):
		return tell(403, "confinement", "this machine cannot keep what the tool's security section promises", "the service's log and flowrun doctor tell what is missing")
	case errors.As(err, &platform):
		return tell(403, "platform", platform.Error(), "")
	case errors.As(err, &environ), errors.Is(err, mask.ErrShortSecret):
		return tell(422, "environment", "the environment of the service lacks what the tool needs", "the service's log says what")
	}
	return tell(500, "internal", "the service could not do this", "the service's log says why")
}

func near(names []string, otherwise string) string {
	if len(names) == 0 {
		return otherwise
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	return "did you mean " + strings.Join(quoted, " or ") + "?"
}

// clip is a caller's word, short enough to be said back.
func clip(s string) string {
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "..."
	}
	return s
}

// fail answers an error. What is not the caller's doing is logged, by the route and not
// by the address, which is the caller's.
func (d *door) fail(w *response, r *http.Request, err error) {
	p, gone := problemOf(err), r.Context().Err() != nil
	if !gone && p.cause != nil && (p.status >= 500 || p.status == 403 || p.status == 422 && p.Code != "invalid-parameters") {
		d.Log.Warn("request refused", "route", r.Pattern, "status", p.status, "code", p.Code, "error", p.cause.Error())
	}
	if w.begun {
		return // the stream just ends
	}
	if len(p.header) > 0 {
		w.Header().Set(p.header[0], p.header[1])
	}
	if p.status == http.StatusUnauthorized && r.ContentLength != 0 {
		w.Header().Set("Connection", "close") // the body is not read, either
	}
	writeJSON(w, p.status, struct {
		Error *problem `json:"error"`
	}{p})
}

// caught answers a panic of a handler.
func (d *door) caught(w *response, r *http.Request) {
	what := recover()
	switch what {
	case nil:
		return
	case http.ErrAbortHandler: // meant
		panic(what)
	}
	d.Log.Error("internal error", "route", r.Pattern, "panic", fmt.Sprint(what), "stack", string(debug.Stack()))
	if w.begun {
		panic(http.ErrAbortHandler) // the client sees that the answer is not whole
	}
	d.fail(w, r, &problem{status: 500, Code: "bug", Message: "an error in flowrun itself", Hint: "please report it, with what the service's log says"})
}
