package compile

import (
	"context"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// checkArguments checks the values under with against the rules of the parameters. Values with references are checked
// only when the step runs.
func (c *compiler) checkArguments(use *tool.ToolUse, s *plan.Step, p *plan.Plan) {
	if p.Definition.Schema != nil {
		c.checkBySchema(use, s, p)
		return
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
		c.report(tool.Diagnostic{Code: "bad-argument", Severity: tool.Error, Pos: at, Path: "with." + w.Param, Message: message,
			Hint: call.Example(prm.Def), Related: c.declaration(prm.Def)})
	}
}

// checkBySchema is checkArguments for a tool whose parameters are described by a JSON Schema. A rule may involve
// several parameters, so it checks nothing unless all values are known.
func (c *compiler) checkBySchema(use *tool.ToolUse, s *plan.Step, p *plan.Plan) {
	given, raw := map[string]*tool.Entry{}, map[string]any{}
	for i, w := range s.With {
		if w.Value.Broken || len(w.Value.Refs()) > 0 {
			return
		}
		v, err := w.For(p, nil)
		if err != nil {
			return // reported when it was compiled
		}
		given[w.Param], raw[w.Param] = &use.With[i], v
	}
	_, err := call.Bind(context.Background(), p, (&call.RunEnv{}).Filled(), raw)
	bad, _ := errors.AsType[*value.ParamsError](err)
	if bad == nil {
		return
	}
	for _, problem := range bad.Problems {
		d := tool.Diagnostic{Code: "bad-argument", Severity: tool.Error, Pos: use.Tool.Pos, Path: "with",
			Message: fmt.Sprintf("tool %s: %s: %s", p.Name(), problem.Subject(), problem.Message), Hint: problem.Hint}
		if e := given[problem.Parameter()]; e != nil {
			d.Pos, d.Path = e.Value.Pos, "with."+e.Key
		}
		if problem.Code != "missing" && problem.Code != "unknown" { // checkWith reports these
			c.report(d)
		}
	}
}

// declaration returns the position of a parameter's declaration.
func (c *compiler) declaration(def *tool.Parameter) []tool.Place {
	if def.Pos.Line == 0 {
		return nil
	}
	return []tool.Place{{Pos: def.Pos, Len: len([]rune(def.Name)), Message: "declared here, type " + def.Type}}
}

// checkDeprecated warns about the use of a deprecated tool or parameter.
func (c *compiler) checkDeprecated(use *tool.ToolUse, p *plan.Plan) {
	if def := p.Definition; def.Deprecated {
		c.report(tool.Diagnostic{Code: "deprecated-tool", Severity: tool.Warning, Pos: use.Tool.Pos, Len: len([]rune(use.Tool.S)),
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
		c.report(tool.Diagnostic{Code: "deprecated-parameter", Severity: tool.Warning, Pos: w.Pos, Len: len([]rune(w.Key)),
			Message: fmt.Sprintf("parameter %s of tool %s is deprecated", w.Key, p.Name()), Hint: hint})
	}
}
