package httpstep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/savedfile"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Field is a header, a parameter of the query or a field of a form.
type Field struct {
	Name  string
	Value *expr.Template
}

// Runner sends one request. It is immutable. Def says which of the templates are set.
type Runner struct {
	Def                            *tool.HTTP
	URL, Body, File, SaveAs, Proxy *expr.Template
	Bearer, User, Password         *expr.Template
	CA, Cert, Key                  *expr.Template
	Headers, Query, Form           []Field
	JSON                           *plan.ValueTemplate
	Limit                          int64 // bytes of a response that is not saved; 0: steps.DefaultLimit
	HostChosen                     bool  // somebody other than the definition's author may choose the host
}

// Idempotent reports whether a second request has the same effect as one.
func (r *Runner) Idempotent() bool { return r.Def.Idempotent() }

// Reasons of failed steps.
const (
	ReasonRequest  = "http-request"  // no response, or none that can be used
	ReasonResponse = "http-response" // the response is not the expected one
)

// exchange is one attempt of a step.
type exchange struct {
	*Runner
	frame   *call.Frame
	step    dag.ID
	request call.FetchRequest
	saved   *savedfile.File // nil without save-as
	keeps   bool            // the response goes to saved
	log     log
}

// Run implements dag.Runner.
func (r *Runner) Run(ctx context.Context, c *dag.Call) (dag.Result, error) {
	a := call.FrameOf(c.Args())
	if why := a.Plan.Unconfined(a.Confine, plan.WorkInRequest); why != "" {
		return dag.Result{Status: dag.Failed, ExitCode: 126, Reason: steps.ReasonStartFailed, Message: why, Permanent: true}, nil
	}
	x := &exchange{Runner: r, frame: a, step: c.Path.WithoutAttempts(), log: log{mask: a.Session().Mask()}}
	rejected := func(err error) (dag.Result, error) {
		return dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInput, Message: x.log.mask.String(err.Error()), Permanent: true}, nil
	}
	if a.RunEnv.Fetch == nil {
		return rejected(errors.New("cannot send the request: this program has no HTTP client for steps; set Config.Fetch"))
	}
	if err := x.prepare(ctx, c); err != nil {
		return rejected(err)
	}
	x.log.sent(x.request)
	began := time.Now()
	answer, err := a.RunEnv.Fetch(ctx, x.request)
	res := dag.Result{Status: dag.Succeeded}
	if err == nil {
		x.log.received(answer, time.Since(began))
		err = x.publish()
	} else {
		x.saved.Discard()
	}
	if err != nil {
		x.log.line("! %v", err)
		res = dag.Result{Status: dag.Failed, ExitCode: 1, Reason: ReasonRequest, Message: x.log.mask.String(err.Error()), Permanent: isPermanent(err)}
	} else if err := x.read(c, answer, &res); err != nil {
		return res, err
	}
	res.Stderr, err = a.Session().Stream(c.Path, c.Attempt, steps.Stderr, x.log.text.String())
	return res, err
}

// isPermanent reports whether a retry would meet the same error.
func isPermanent(err error) bool {
	var marked interface{ Permanent() bool }
	return errors.As(err, &marked) && marked.Permanent()
}

// read puts the response into the Result, and judges it.
func (x *exchange) read(c *dag.Call, answer *call.FetchAnswer, res *dag.Result) (err error) {
	if res.Outputs, err = x.frame.Session().Outputs(outputs(answer)); err != nil {
		return err
	}
	if !x.keeps {
		if res.Stdout, err = x.frame.Session().Text(c.Path, c.Attempt, string(answer.Body)); err != nil {
			return err
		}
	}
	switch {
	case !x.expects(answer.Status):
		fail(res, fmt.Sprintf("%s %s: the response status is %s", x.request.Method, shownURL(x.request.URL), strings.TrimSpace(fmt.Sprint(answer.Status, " ", answer.StatusText))))
		res.Permanent, res.RetryAfter = !retryable(answer.Status), retryAfter(answer, time.Now())
	case x.Def.Schema != nil:
		if why := mismatch(x.Def.Schema, answer.Body); why != "" {
			fail(res, "the response does not match expect.schema: "+why)
		}
	}
	res.Message = x.log.mask.String(res.Message)
	return nil
}

func fail(res *dag.Result, why string) {
	res.Status, res.ExitCode, res.Reason, res.Message = dag.Failed, 1, ReasonResponse, why
}

// expects reports whether a status is an expected one.
func (r *Runner) expects(status int) bool {
	if len(r.Def.Status) > 0 {
		return slices.Contains(r.Def.Status, status)
	}
	return status >= 200 && status < 300
}

// retryable reports whether the same request may get another status later: after a timeout, a conflict with the pace of
// requests, or an error of the server.
func retryable(status int) bool {
	return status == 408 || status == 425 || status == 429 || status >= 500 && status != 501 && status != 505
}

// maxRetryAfter limits what a server can demand, in seconds: an hour.
const maxRetryAfter = 3600

// retryAfter returns how many seconds the server asks to wait for, 0 for none.
func retryAfter(answer *call.FetchAnswer, now time.Time) int32 {
	for _, h := range answer.Header {
		if h[0] != "retry-after" {
			continue
		}
		if n, err := strconv.ParseInt(h[1], 10, 64); err == nil || errors.Is(err, strconv.ErrRange) { // then n is the nearest
			return int32(min(max(n, 0), maxRetryAfter))
		}
		if at, err := time.Parse(time.RFC1123, h[1]); err == nil {
			return int32(min(max(math.Ceil(at.Sub(now).Seconds()), 0), maxRetryAfter))
		}
	}
	return 0
}

// outputs returns the outputs that every request has. Cookies are not among the headers: they are secrets.
func outputs(answer *call.FetchAnswer) map[string]any {
	headers := map[string]any{}
	for _, h := range answer.Header {
		if h[0] == "set-cookie" {
			continue
		}
		if before, ok := headers[h[0]].(string); ok {
			h[1] = before + ", " + h[1]
		}
		headers[h[0]] = h[1]
	}
	return map[string]any{"status": int64(answer.Status), "headers": headers}
}

// mismatch returns why a body does not match a schema, "" if it does.
func mismatch(s *dataschema.Schema, body []byte) string {
	var v any
	if err := value.DecodeJSON(string(body), &v); err != nil {
		return "it is not JSON"
	}
	if problems := s.Check(v); len(problems) > 0 {
		return strings.TrimPrefix(problems[0].Field+": "+problems[0].Message, ": ")
	}
	return ""
}
