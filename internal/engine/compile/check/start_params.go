package check

import (
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// start is what starts a tool without a person, and the parameters that it gives.
type start struct {
	a, name string // in messages: a schedule, the schedule
	code    string // of diagnostics
	at      tool.Pos
	path    string
	params  []tool.Entry
	// placeholders returns what is replaced in a value when the run starts.
	placeholders func(value any) []string
	before       int // number of problems found before
}

// startParams checks the parameters against those of the tool now, because nobody sees the error when the run
// starts. The final values of those with placeholders are checked only then.
func startParams(p *plan.Plan, s start) (ds tool.Diagnostics) {
	given := map[string]*tool.Entry{}
	var known []string
	for _, prm := range p.Params {
		known = append(known, prm.Def.Name)
	}
	for i := range s.params {
		e := &s.params[i]
		given[e.Key] = e
		if p.Secret(e.Key) {
			return tool.Diagnostics{{Code: s.code, Severity: tool.Error, Pos: e.Pos, Len: len([]rune(e.Key)), Path: s.path + ".params." + e.Key,
				Message: fmt.Sprintf("parameter %s is secret and cannot be set in %s", e.Key, s.a),
				Hint:    "let the tool fetch the value with environment.secrets"}}
		}
	}
	raw := map[string]call.Given{}
	for name, v := range p.Given(s.params) {
		raw[name] = call.Given{V: v}
	}
	err := call.Check(p, (&call.RunEnv{}).Filled(), raw)
	bad, _ := errors.AsType[*value.ParamsError](err)
	if bad == nil {
		return nil
	}
	for _, problem := range bad.Problems {
		e := given[problem.Parameter()]
		switch {
		case problem.Code == "unknown":
			ds = append(ds, UnknownParameter(p.Definition, e, p.Definition, known, tool.Error, s.before+len(ds) < diagnostic.MaxDiagnostics))
		case problem.Code == "missing":
			ds = append(ds, tool.Diagnostic{Code: "missing-parameter", Severity: tool.Error, Pos: s.at, Len: 1, Path: s.path,
				Message: fmt.Sprintf("%s does not set the required parameter %s", s.name, problem.Name), Hint: fmt.Sprintf("add %s under params:", problem.Name)})
		case e != nil && len(s.placeholders(e.Value.Data())) == 0: // problems with a default may depend on the machine
			ds = append(ds, tool.Diagnostic{Code: "bad-argument", Severity: tool.Error, Pos: e.Value.Pos, Len: 1, Path: s.path + ".params." + e.Key,
				Message: fmt.Sprintf("invalid value for parameter %s of tool %s: %s", e.Key, p.Name(), problem.Message), Hint: problem.Hint})
		}
	}
	return ds
}
