package compile

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/engine/compile/check"
	"github.com/flowrun/flowrun/internal/engine/compile/texts"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/script"
	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// parameters compiles the parameters and sorts them: a parameter comes after those that its default refers to.
func (c *toolCompiler) parameters() {
	p, byName := c.plan, map[string]*plan.Param{}
	for _, def := range p.Definition.Parameters {
		prm := &plan.Param{Def: def}
		if p.Definition.Schema == nil || def.Default != nil && def.Default.Pos.Line > 0 { // the default of an alias may contain references
			prm = c.parameter(def)
		}
		byName[def.Name] = prm
	}
	o := &defaultOrder{Parser: c.Parser, params: byName, state: map[string]int{}}
	for _, def := range p.Definition.Parameters {
		o.visit(def.Name)
	}
	p.Params = o.sorted
}

func (c *toolCompiler) parameter(def *tool.Parameter) *plan.Param {
	prm := &plan.Param{Def: def}
	path := "parameters." + def.Name
	if def.Transform != nil {
		transforms(c.Parser, prm, *def.Transform)
	}
	if def.Format != nil {
		f, ps := expr.ParseFormat(def.Format.S, def.Type)
		if !c.ReportProblems(*def.Format, path+".format", ps, c.names) {
			prm.Format = f
		}
	}
	if pat := def.Validation.Pattern; pat != nil {
		prm.Pattern, _ = regexp.Compile(pat.S) // package tool has already reported an error
	}
	if def.Default != nil {
		t := c.Value(*def.Default, path+".default", c.names, func(at tool.Text, refs []expr.Ref) { c.Report(mentionsNoStep(at, refs)...) })
		prm.Initial = &t
	}
	return prm
}

// defaultOrder sorts parameters by the references in their defaults.
type defaultOrder struct {
	*texts.Parser
	params map[string]*plan.Param
	state  map[string]int // 0 new, 1 on the path, 2 done
	path   []string
	sorted []*plan.Param
}

func (o *defaultOrder) visit(name string) {
	prm := o.params[name]
	o.state[name] = 1
	o.path = append(o.path, name)
	if prm.Initial != nil {
		for _, r := range prm.Initial.Refs() {
			if r.Class != expr.Parameter {
				continue
			}
			switch o.state[r.Root] {
			case 0:
				o.visit(r.Root)
			case 1:
				at := tool.Text{Pos: prm.Def.Default.Pos}
				o.Errorf("default-cycle", at, "give one of them a default without references",
					"the defaults refer to each other in a cycle: %s", strings.Join(append(o.path, r.Root), " -> "))
			}
		}
	}
	o.path = o.path[:len(o.path)-1]
	o.state[name] = 2
	o.sorted = append(o.sorted, prm)
}

// functionName matches a transform that is only the name of a function. The function is called with value.
var functionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$`) })

// bareFunctions are the functions of the language without a dot in their name. int is not JavaScript: it means
// Math.trunc, because it is common in other languages.
var bareFunctions = []string{"String", "Number", "Boolean", "parseInt", "parseFloat", "encodeURI", "encodeURIComponent", "decodeURI", "decodeURIComponent", "int"}

// transforms compiles the transform of a parameter: predefined functions, or JavaScript.
func transforms(c *texts.Parser, p *plan.Param, at tool.Text) {
	list, err := valuetext.ParseTransforms(at.S)
	switch {
	case errors.Is(err, valuetext.ErrJavaScript):
		if t := jsTransform(c, at); t != nil {
			p.JS = t
		}
	case err != nil:
		c.Errorf("transform", at, "", "%v", err)
	}
	p.Transforms = list
}

func jsTransform(c *texts.Parser, at tool.Text) *script.Transform {
	name := strings.TrimSpace(at.S)
	code := at
	if functionName().MatchString(name) && name != "value" && !strings.HasPrefix(name, "value.") {
		if !strings.Contains(name, ".") && !slices.Contains(bareFunctions, name) {
			c.Report(unknownTransform(at, name))
			return nil
		}
		code.S = at.S + "(value)"
		if name == "int" {
			code.S = "Math.trunc(value)"
		}
	}
	s := compileScript(c, code, jsrun.Expression, "value")
	if s == nil {
		return nil
	}
	return &script.Transform{Script: s}
}

// unknownTransform returns the problem of a transform that is not a function.
func unknownTransform(at tool.Text, name string) tool.Diagnostic {
	hint := texts.DidYouMean(name, append(valuetext.TransformNames(), bareFunctions...), "use "+valuetext.TransformList+", or a JavaScript expression with value, such as value.replace(/ +/g, '-')")
	return check.Errorf("transform", at, hint, "unknown transform %q", name)
}
