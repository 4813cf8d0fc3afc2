package web

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// problem is an error as the caller sees it: {"error": {...}}. It may contain what the
// caller sent and what is recorded of runs, but no path of the machine, no setting and no
// secret. Those are in the cause, which is logged.
type problem struct {
	status int
	header []string // names and values of headers
	cause  error

	Code     string               `json:"code"`
	Message  string               `json:"message"`
	Hint     string               `json:"hint,omitempty"`
	Problems []value.ParamProblem `json:"problems,omitempty"`
}

func (p *problem) Error() string { return p.Message }
func (p *problem) Unwrap() error { return p.cause }

// refuse returns a problem with the request.
func refuse(status int, code, message, hint string) *problem {
	return &problem{status: status, Code: code, Message: message, Hint: hint}
}

var (
	errNoRoute = refuse(404, "not-found", "there is no such route", "GET /api/v1/openapi.json lists every route")
	errToken   = &problem{status: 401, header: []string{"WWW-Authenticate", `Bearer realm="flowrun"`}, Code: "unauthorized",
		Message: "the token is missing or wrong", Hint: "send the header Authorization: Bearer TOKEN, with the token that flowrun serve was started with"}
)

func wrongMethod(method string, allowed []string) *problem {
	slices.Sort(allowed)
	list := strings.Join(allowed, ", ")
	return &problem{status: 405, header: []string{"Allow", list}, Code: "wrong-method",
		Message: fmt.Sprintf("method %.20q is not allowed here", method), Hint: "use " + list}
}

// problemOf returns the problem that describes an error to the caller.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	o := outcome.Of(err)
	p := &problem{status: o.Status, cause: err, Code: o.Code, Message: insertSubject(o.Message, o.Subject), Hint: didYouMean(o.Near, insertSubject(o.Hint, o.Subject)), Problems: o.Params}
	for _, d := range o.Diagnostics {
		if d.Severity == tool.Error {
			p.Problems = append(p.Problems, value.ParamProblem{Name: d.Path, Code: d.Code, Message: fmt.Sprintf("line %d", d.Pos.Line), Hint: "flowrun explain " + d.Code})
		}
	}
	if p.status == http.StatusServiceUnavailable {
		p.header = []string{"Retry-After", "5"}
	}
	return p
}

// insertSubject inserts the subject into a text that has a placeholder for it.
func insertSubject(text, subject string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	return fmt.Sprintf(text, clip(subject))
}

func didYouMean(names []string, otherwise string) string {
	if len(names) == 0 {
		return otherwise
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	return "did you mean " + strings.Join(quoted, " or ") + "?"
}

// clip shortens a word of the caller before it is repeated in a message.
func clip(s string) string {
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "..."
	}
	return s
}

// fail responds with an error. An error that is not the caller's fault is logged, with the
// pattern of the route instead of the URL, which the caller chose.
func (g *guard) fail(w *response, r *http.Request, err error) {
	p, gone := problemOf(err), r.Context().Err() != nil
	if !gone && p.cause != nil && (p.status >= 500 || p.status == 403 || p.status == 422 && p.Code != outcome.CodeParams) {
		g.log.Warn("request refused", "route", r.Pattern, "status", p.status, "code", p.Code, "error", p.cause.Error())
	}
	if w.started {
		return // the stream just ends
	}
	for i := 0; i < len(p.header); i += 2 {
		w.Header().Set(p.header[i], p.header[i+1])
	}
	if p.status == http.StatusUnauthorized && r.ContentLength != 0 {
		w.Header().Set("Connection", "close") // the body stays unread
	}
	writeJSON(w, p.status, map[string]*problem{"error": p})
}

// recoverPanic responds to a panic of a handler.
func (g *guard) recoverPanic(w *response, r *http.Request) {
	what := recover()
	switch what {
	case nil:
		return
	case http.ErrAbortHandler: // intended by the handler
		panic(what)
	}
	g.log.Error("internal error", "route", r.Pattern, "panic", fmt.Sprint(what), "stack", string(debug.Stack()))
	if w.started {
		panic(http.ErrAbortHandler) // the client must notice that the response is incomplete
	}
	g.fail(w, r, &problem{status: 500, Code: "bug", Message: "internal error in flowrun", Hint: "please report it with the error in the service's log"})
}
