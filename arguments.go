package flowrun

import (
	"context"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/tool"
)

// checkArguments holds the values under with that are known now against the rules of
// the parameters they are for. What holds references is only known when the step runs.
func (c *compiler) checkArguments(s *planStep, p *compiledPlan) {
	if p.Definition.Schema != nil {
		c.checkBySchema(s, p)
		return
	}
	for i, w := range s.with {
		prm := p.param(w.param)
		if prm == nil || w.value.broken || len(w.value.refs()) > 0 {
			continue
		}
		v, err := w.value.value(nil)
		if err != nil {
			continue // told where it was read
		}
		if _, _, err = prm.take(v); err == nil {
			continue
		}
		at, message := s.def.With[i].Value.Pos, fmt.Sprintf("tool %s refuses %s: %v", p.Name(), w.param, err)
		if p.Secret(w.param) {
			message = fmt.Sprintf("tool %s refuses %s; the value is secret and not shown", p.Name(), w.param)
		}
		c.report(tool.Diagnostic{Code: "bad-argument", Severity: tool.Error, Pos: at, Path: "with." + w.param, Message: message,
			Hint: example(prm.def), Related: c.declared(prm.def)})
	}
}

// checkBySchema is checkArguments for a tool that describes its parameters as JSON
// Schema. Its rules may be about several of them, so all values have to be known.
func (c *compiler) checkBySchema(s *planStep, p *compiledPlan) {
	given, raw := map[string]*tool.Entry{}, map[string]any{}
	for i, w := range s.with {
		if w.value.broken || len(w.value.refs()) > 0 {
			return
		}
		v, err := w.value.value(nil)
		if err != nil {
			return // told where it was read
		}
		given[w.param], raw[w.param] = &s.def.With[i], v
	}
	_, err := p.bindCall(context.Background(), (&callWorld{}).filled(), raw)
	bad, _ := errors.AsType[*ParamsError](err)
	if bad == nil {
		return
	}
	for _, problem := range bad.Problems {
		d := tool.Diagnostic{Code: "bad-argument", Severity: tool.Error, Pos: s.def.UseTool.Pos, Path: "with",
			Message: fmt.Sprintf("tool %s refuses %s: %s", p.Name(), problem.Subject(), problem.Message), Hint: problem.Hint}
		if e := given[problem.Parameter()]; e != nil {
			d.Pos, d.Path = e.Value.Pos, "with."+e.Key
		}
		if problem.Code != "missing" && problem.Code != "unknown" { // told by checkWith
			c.report(d)
		}
	}
}

// declared is the place of a parameter, for whoever misses it.
func (c *compiler) declared(def *tool.Parameter) []tool.Place {
	if def.Pos.Line == 0 {
		return nil
	}
	return []tool.Place{{Pos: def.Pos, Len: len([]rune(def.Name)), Message: "declared here, type " + def.Type}}
}

func (p *compiledPlan) param(name string) *param {
	for _, prm := range p.params {
		if prm.def.Name == name {
			return prm
		}
	}
	return nil
}

// checkDeprecated warns of the use of a tool, or of a parameter, that should no longer
// be used (S1-015 to S1-018).
func (c *compiler) checkDeprecated(s *tool.Step, p *compiledPlan) {
	if def := p.Definition; def.Deprecated {
		c.report(tool.Diagnostic{Code: "deprecated-tool", Severity: tool.Warning, Pos: s.UseTool.Pos, Len: len([]rune(s.UseTool.S)),
			Message: fmt.Sprintf("tool %s is deprecated", def.Name), Hint: def.DeprecatedMessage})
	}
	for _, w := range s.With {
		prm := p.param(w.Key)
		if prm == nil || !prm.def.Deprecated {
			continue
		}
		hint := ""
		if prm.def.DeprecatedAlternative != "" {
			hint = "use " + prm.def.DeprecatedAlternative
		}
		c.report(tool.Diagnostic{Code: "deprecated-parameter", Severity: tool.Warning, Pos: w.Pos, Len: len([]rune(w.Key)),
			Message: fmt.Sprintf("parameter %s of tool %s is deprecated", w.Key, p.Name()), Hint: hint})
	}
}
