package runresult

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/locale"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// LogEntry describes the outcome of one block of a Markdown tool: an entry of the execution_log in its specification.
// It holds no secrets.
type LogEntry struct {
	Block      string `json:"block"`          // preprocess, tool or postprocess
	Status     string `json:"status"`         // ok, error or skipped
	Message    string `json:"message"`        // why it failed or was skipped
	Step       string `json:"step,omitempty"` // path of the step; "" if it failed before the run
	Code       string `json:"code,omitempty"` // code of the problem, stable
	DurationMS int64  `json:"duration_ms"`
}

// blockOf returns the name of the block from which a step of a Markdown tool was made.
func blockOf(s *tool.Step) string {
	if code := s.Script(); code != nil {
		return string(code.Role)
	}
	return "tool"
}

// ExecutionLog returns the outcome of the blocks of a Markdown tool that have ended, in their order; nil for other
// tools.
func (r *Result) ExecutionLog() []LogEntry {
	if r.markdown == nil {
		return nil
	}
	log := append([]LogEntry{}, r.notRunLog...)
	at := make(map[string]*StepResult, len(r.Steps))
	for i := range r.Steps {
		at[r.Steps[i].ID] = &r.Steps[i]
	}
	var add func(list []*tool.Step, prefix string)
	add = func(list []*tool.Step, prefix string) {
		for _, s := range list {
			res := at[prefix+s.Name]
			switch {
			case res == nil:
			case len(s.Steps()) > 0 && at[prefix+s.Name+"/"+s.Steps()[0].Name] != nil: // the steps inside have ended, or are about to
				add(s.Steps(), prefix+s.Name+"/")
			default:
				if e, ended := r.entry(s, res); ended {
					log = append(log, e)
				}
			}
		}
	}
	add(r.markdown.Steps, "")
	for i := range log {
		log[i].Message = locale.Language(r.Language).TranslateLines(log[i].Message)
	}
	return log
}

// entry returns the log entry of one step; ended is false while the step has not ended.
func (r *Result) entry(s *tool.Step, res *StepResult) (e LogEntry, ended bool) {
	e = LogEntry{Block: blockOf(s), Status: "error", Step: res.ID, DurationMS: res.Duration().Milliseconds()}
	switch res.Status {
	case dag.Succeeded, dag.Reused:
		e.Status = "ok"
		return e, true
	case dag.Skipped, dag.Cancelled:
		e.Status, e.Code, e.Message = "skipped", res.Reason, res.Message
		return e, true
	case dag.Failed, dag.TimedOut, dag.Interrupted:
	default:
		return e, false
	}
	res = r.culprit(res)
	e.Code, e.Message = res.Reason, res.Message
	switch {
	case e.Message != "":
	case res.Status == dag.TimedOut:
		e.Message = "it exceeded its timeout"
	default: // a command: the last line that it wrote to stderr usually says why
		e.Message = fmt.Sprintf("exit code %d", res.ExitCode)
		if said := strings.TrimSpace(res.Error); said != "" {
			e.Message += ": " + said[strings.LastIndexByte(said, '\n')+1:]
		}
	}
	if p := res.Problem; p != nil {
		e.Code, e.Message = p.Code, strings.TrimPrefix(res.Message, p.Where+": ")
	}
	e.Message = parameterMessage(e.Message)
	return e, true
}

// culprit returns the step inside another one that made it fail, or the step itself if there is none.
func (r *Result) culprit(res *StepResult) *StepResult {
	for i := range r.Steps {
		s := &r.Steps[i]
		inside := strings.HasPrefix(s.ID, res.ID+"/") || strings.HasPrefix(s.ID, res.ID+"#")
		if inside && (s.Status == dag.Failed || s.Status == dag.TimedOut) {
			res = s // the list has outer steps before inner ones
		}
	}
	return res
}

var refusedParameter = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:.*: )?parameter ([A-Za-z_][A-Za-z0-9_-]*): (is |has )?`)
})

// parameterMessage rewrites problems with parameters, one a line, to the form of the specification.
func parameterMessage(message string) string {
	lines := strings.Split(message, "\n")
	for i, line := range lines {
		m := refusedParameter().FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		link := ": "
		if m[4] >= 0 {
			link = " " + line[m[4]:m[5]]
		}
		lines[i] = "Parameter '" + line[m[2]:m[3]] + "'" + link + strings.TrimSuffix(line[m[1]:], described(line))
	}
	return strings.Join(lines, "\n")
}

// described returns the end of a problem that repeats the description of a required parameter.
func described(line string) string {
	if _, hint, ok := strings.Cut(line, ": is required (description: "); ok {
		return " (description: " + hint
	}
	return ""
}

// Reasons of a run that never started.
const (
	ReasonDefinition = "definition" // the definition has errors
	ReasonParameters = "parameters" // the parameters have errors
)

// NotRun returns the result of a Markdown tool that could not be run because of err, an error of Compile or
// Plan.Bind: the same document as that of a run, with each problem in its ExecutionLog. It is nil for other tools and
// other errors.
func NotRun(def *tool.Definition, err error) *Result {
	if def.Format != tool.Markdown {
		return nil
	}
	res := &Result{Tool: def.Name, Status: dag.Failed, ExitCode: 1, Params: map[string]any{}, Tolerated: []string{}, markdown: def}
	o := outcome.Of(err)
	for _, d := range o.Diagnostics {
		res.Reason = ReasonDefinition
		if d.Severity == tool.Error {
			res.notRunLog = append(res.notRunLog, LogEntry{Block: blockAt(def, d.Pos), Status: "error", Message: bareMessage(d), Code: d.Code})
		}
	}
	for _, p := range o.Params {
		res.Reason = ReasonParameters
		res.notRunLog = append(res.notRunLog, LogEntry{Block: "tool", Status: "error", Code: p.Code, Message: parameterMessage(p.Subject() + ": " + p.Message)})
	}
	if res.notRunLog == nil {
		return nil
	}
	res.Message = fmt.Sprintf("the tool did not run: %s", res.notRunLog[0].Message)
	return res
}

// bareMessage returns the message of the JavaScript engine for a script that cannot be parsed, else the message of
// the diagnostic.
func bareMessage(d tool.Diagnostic) string {
	if _, message, ok := strings.Cut(d.Message, "JavaScript syntax error: "); ok {
		return "SyntaxError: " + message
	}
	return d.Message
}

// blockAt returns the block of a Markdown tool that contains a position in its file; "tool" for the front matter.
func blockAt(def *tool.Definition, at tool.Pos) string {
	block := "tool"
	var look func(list []*tool.Step)
	look = func(list []*tool.Step) {
		for _, s := range list {
			look(s.Steps())
			if s.Script() == nil || at.File != def.File {
				continue
			}
			code := s.Script().Code
			if first, last := code.Pos.Line, code.At(len(code.S)).Line; first <= at.Line && at.Line <= last {
				block = blockOf(s)
			}
		}
	}
	look(def.Steps)
	return block
}
