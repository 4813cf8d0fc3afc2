package check

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Use checks the step of a definition that uses the tool p. before is the number of problems found so far.
func Use(user *tool.Definition, s *plan.Step, p *plan.Plan, before int) tool.Diagnostics {
	use := s.Def.Body.(*tool.ToolUse)
	return slices.Concat(with(user, use, p, before), arguments(use, s, p), deprecated(use, p))
}

// with checks the names under with against the tool's parameters.
func with(user *tool.Definition, use *tool.ToolUse, p *plan.Plan, before int) (ds tool.Diagnostics) {
	given := map[string]bool{}
	key := "with"
	if user.Format == tool.Markdown {
		key = "parameters"
	}
	var known []string
	for _, prm := range p.Params {
		known = append(known, prm.Def.Name)
	}
	for i := range use.With {
		w := &use.With[i]
		given[w.Key] = true
		if slices.Contains(known, w.Key) {
			continue
		}
		severity := tool.Error
		if p.AcceptsUndeclared(w.Key) {
			severity = tool.Warning
		}
		ds = append(ds, UnknownParameter(user, w, p.Definition, known, severity, before+len(ds) < diagnostic.MaxDiagnostics))
	}
	for _, prm := range p.Params {
		if prm.Def.Required && prm.Def.Default == nil && !given[prm.Def.Name] && use.WithAll == nil {
			subject, replace := usedTool(p.Definition)
			ds = append(ds, Errorf("missing-parameter", use.Tool, fmt.Sprintf("add %s under %s:%s", prm.Def.Name, key, replace),
				"%s needs parameter %s", subject, prm.Def.Name))
		}
	}
	return ds
}

// arguments checks the values under with against the rules of the parameters. Values with references are checked
// only when the step runs.
func arguments(use *tool.ToolUse, s *plan.Step, p *plan.Plan) (ds tool.Diagnostics) {
	if p.Definition.Schema != nil {
		return bySchema(use, s, p)
	}
	for i, w := range s.With {
		prm := p.Param(w.Param)
		if prm == nil || w.Value.Broken || len(w.Value.Refs()) > 0 {
			continue
		}
		v, err := w.For(p, nil)
		if err != nil {
			continue // reported when it was compiled
		}
		if _, _, err = prm.Convert(v); err == nil {
			continue
		}
		at, message := use.With[i].Value.Pos, fmt.Sprintf("invalid value for parameter %s of tool %s: %v", w.Param, p.Name(), err)
		if p.Secret(w.Param) {
			message = fmt.Sprintf("invalid value for parameter %s of tool %s; the value is secret and not shown", w.Param, p.Name())
		}
		ds = append(ds, tool.Diagnostic{Code: "bad-argument", Severity: tool.Error, Pos: at, Path: "with." + w.Param, Message: message,
			Hint: call.Example(prm.Def), Related: declaration(prm.Def)})
	}
	return ds
}

// bySchema is arguments for a tool whose parameters are described by a JSON Schema. A rule may involve
// several parameters, so it checks nothing unless all values are known.
func bySchema(use *tool.ToolUse, s *plan.Step, p *plan.Plan) (ds tool.Diagnostics) {
	given, raw := map[string]*tool.Entry{}, map[string]any{}
	for i, w := range s.With {
		if w.Value.Broken || len(w.Value.Refs()) > 0 {
			return nil
		}
		v, err := w.For(p, nil)
		if err != nil {
			return nil // reported when it was compiled
		}
		given[w.Param], raw[w.Param] = &use.With[i], v
	}
	_, err := call.Bind(context.Background(), p, (&call.RunEnv{}).Filled(), raw)
	bad, _ := errors.AsType[*value.ParamsError](err)
	if bad == nil {
		return nil
	}
	for _, problem := range bad.Problems {
		d := tool.Diagnostic{Code: "bad-argument", Severity: tool.Error, Pos: use.Tool.Pos, Path: "with",
			Message: fmt.Sprintf("tool %s: %s: %s", p.Name(), problem.Subject(), problem.Message), Hint: problem.Hint}
		if e := given[problem.Parameter()]; e != nil {
			d.Pos, d.Path = e.Value.Pos, "with."+e.Key
		}
		if problem.Code != "missing" && problem.Code != "unknown" { // with reports these
			ds = append(ds, d)
		}
	}
	return ds
}

// declaration returns the position of a parameter's declaration.
func declaration(def *tool.Parameter) []tool.Place {
	if def.Pos.Line == 0 {
		return nil
	}
	return []tool.Place{{Pos: def.Pos, Len: len([]rune(def.Name)), Message: "declared here, type " + def.Type}}
}

// deprecated warns about the use of a deprecated tool or parameter.
func deprecated(use *tool.ToolUse, p *plan.Plan) (ds tool.Diagnostics) {
	if def := p.Definition; def.Deprecated {
		ds = append(ds, tool.Diagnostic{Code: "deprecated-tool", Severity: tool.Warning, Pos: use.Tool.Pos, Len: len([]rune(use.Tool.S)),
			Message: fmt.Sprintf("tool %s is deprecated", def.Name), Hint: def.DeprecatedMessage})
	}
	for _, w := range use.With {
		prm := p.Param(w.Key)
		if prm == nil || !prm.Def.Deprecated {
			continue
		}
		hint := ""
		if prm.Def.DeprecatedAlternative.S != "" {
			hint = "use " + prm.Def.DeprecatedAlternative.S
		}
		ds = append(ds, tool.Diagnostic{Code: "deprecated-parameter", Severity: tool.Warning, Pos: w.Pos, Len: len([]rune(w.Key)),
			Message: fmt.Sprintf("parameter %s of tool %s is deprecated", w.Key, p.Name()), Hint: hint})
	}
	return ds
}
