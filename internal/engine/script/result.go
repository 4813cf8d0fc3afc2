package script

import (
	"encoding/json"
	"fmt"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Reasons of steps whose script failed.
const (
	ReasonScript        = "script"         // it threw an error, or returned an invalid value
	ReasonScriptTimeout = "script-timeout" // it exceeded limits.js-timeout
	ReasonScriptMemory  = "script-memory"  // it exceeded limits.js-memory
	ReasonScriptLost    = "script-lost"    // the process that ran it was killed or crashed
)

// Categories of dag.Problem.
const (
	categoryBusiness    = "business"    // the tool reported the failure itself
	categoryValidation  = "validation"  // a script was given or returned an invalid value
	categoryDevelopment = "development" // the code of the script, or what it declares, is wrong
	categoryUnknown     = "unknown"     // a script threw another error
	categoryLimit       = "limit"       // a script was stopped
	categorySystem      = "system"      // the machine, the network or the process that runs scripts failed
)

// CodeToolFailure is the problem code of a tool that returned {success: false}.
const CodeToolFailure = jsrun.CodeReported

// codeInvalidParameters is the problem code of a tool whose validate rejected the parameters. PromptX uses it too.
const codeInvalidParameters = "VALIDATION_ERROR"

// scriptFailure returns the result of a script that failed. The error may hold secrets: the Problem is masked here, the
// message together with the rest of the result.
func (c *jsCall) scriptFailure(e *jsrun.Error) dag.Result {
	r := dag.Result{Status: dag.Failed, ExitCode: 1, Reason: ReasonScript, Message: e.Error()}
	p := &dag.Problem{Code: string(e.Kind), Category: categoryLimit}
	switch {
	case e.Business != nil:
		p.Code, p.Category, p.Solution, p.Retryable = e.Business.Code, categoryBusiness, e.Business.Solution, e.Business.Retryable
		r.Permanent = !p.Retryable
	case e.Kind == jsrun.KindTimeout:
		r.Reason, p.Retryable = ReasonScriptTimeout, true
		p.Solution = "make the script faster, or raise limits.js-timeout"
	case e.Kind == jsrun.KindMemory:
		r.Reason, r.Permanent = ReasonScriptMemory, true
		p.Solution = "make the script use less memory, or raise limits.js-memory"
	case e.Kind == jsrun.KindResult:
		p.Category, r.Permanent = categoryValidation, true
	case e.Kind == jsrun.KindParameters:
		r.Reason, r.Permanent = dag.ReasonInput, true
		p.Code, p.Category = codeInvalidParameters, categoryValidation
	case e.Kind == jsrun.KindLost:
		r.Reason, p.Category, p.Retryable = ReasonScriptLost, categorySystem, true
	default:
		p = thrownProblem(e, c.args.Plan.Definition.Name, c.Def.Module)
	}
	r.Problem = c.masked(p)
	if e.Business != nil { // an expected failure: where it was thrown is of interest to the author only
		r.Problem.Where = e.Pos.String()
		return r
	}
	return c.withPosition(r, e.Pos)
}

// masked masks secrets in a Problem.
func (c *jsCall) masked(p *dag.Problem) *dag.Problem {
	mask := c.args.Session().Mask().String
	p.Code, p.Solution = mask(p.Code), mask(p.Solution)
	return p
}

// withPosition puts the position in the author's file in front of the message.
func (c *jsCall) withPosition(r dag.Result, at tool.Pos) dag.Result {
	if at.Line > 0 {
		r.Problem.Where = at.String()
		r.Message = at.String() + ": " + r.Message
	}
	return r
}

// rejected returns the result of a script that returned a value which its role does not allow; nil if it is allowed.
func (c *jsCall) rejected(v any, out json.RawMessage) *dag.Result {
	if c.Def.Role != tool.RolePre {
		return nil
	}
	if _, ok := v.(map[string]any); ok {
		return nil
	}
	r := c.withPosition(dag.Result{Status: dag.Failed, ExitCode: 1, Reason: ReasonScript, Permanent: true,
		Message: fmt.Sprintf("the pre-processing script must return an object, but returned %s", describeValue(v, out)),
		Problem: &dag.Problem{Code: "result", Category: categoryValidation, Solution: "return an object, as in return { query: input.query };"}}, c.Def.Code.Pos)
	return &r
}

// describeValue describes what a script returned, in words.
func describeValue(v any, out json.RawMessage) string {
	if out == nil {
		return "nothing"
	}
	return value.KindOf(v)
}
