package flowrun

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/tool"
)

// param is a compiled parameter.
type param struct {
	def        *tool.Parameter
	transforms []expr.Transform
	js         transform // nil: none
	format     *expr.Format
	pattern    *regexp.Regexp
	initial    *tree // the default; nil = none
}

// parameters compiles the parameters and puts them into an order in which a
// default comes after the parameters it names (S1-132).
func (c *compiler) parameters(p *compiledPlan, n names) {
	byName := map[string]*param{}
	for _, def := range p.Definition.Parameters {
		prm := &param{def: def}
		if p.Definition.Schema == nil || def.Default != nil && def.Default.Pos.Line > 0 { // of an alias: it may hold references
			prm = c.parameter(def, n)
		}
		byName[def.Name] = prm
	}
	o := &defaultOrder{compiler: c, params: byName, state: map[string]int{}}
	for _, def := range p.Definition.Parameters {
		o.visit(def.Name)
	}
	p.params = o.sorted
}

func (c *compiler) parameter(def *tool.Parameter, n names) *param {
	prm := &param{def: def}
	path := "parameters." + def.Name
	if def.Transform != nil {
		c.transforms(prm, *def.Transform)
	}
	if def.Format != nil {
		f, ps := expr.ParseFormat(def.Format.S, def.Type)
		if !c.found(*def.Format, path+".format", ps, n) {
			prm.format = f
		}
	}
	if pat := def.Validation.Pattern; pat != nil {
		prm.pattern, _ = regexp.Compile(pat.S) // an error was diagnosed by package tool
	}
	if def.Default != nil {
		t := c.tree(*def.Default, path+".default", n, func(at tool.Text, refs []expr.Ref) { c.mentionsNoStep(at, refs) })
		prm.initial = &t
	}
	return prm
}

// defaultOrder sorts parameters by what their defaults mention.
type defaultOrder struct {
	*compiler
	params map[string]*param
	state  map[string]int // 0 new, 1 on the path, 2 done
	path   []string
	sorted []*param
}

func (o *defaultOrder) visit(name string) {
	prm := o.params[name]
	o.state[name] = 1
	o.path = append(o.path, name)
	if prm.initial != nil {
		for _, r := range prm.initial.refs() {
			if r.Class != expr.Parameter {
				continue
			}
			switch o.state[r.Root] {
			case 0:
				o.visit(r.Root)
			case 1:
				at := tool.Text{Pos: prm.def.Default.Pos}
				o.errorf("default-cycle", at, "give one of them a plain default",
					"defaults name each other in a circle: %s", strings.Join(append(o.path, r.Root), " -> "))
			}
		}
	}
	o.path = o.path[:len(o.path)-1]
	o.state[name] = 2
	o.sorted = append(o.sorted, prm)
}

// ParamsError is everything that is wrong with the parameters of one call.
type ParamsError struct {
	Tool     string
	Problems []ParamProblem
}

// ParamProblem is what is wrong with one parameter. Code is one of missing,
// unknown, type, validation, transform, default, nul, dash, refused.
type ParamProblem struct {
	Name    string `json:"name"` // with what leads to the value inside it, as in opts[0].name; "" for all of them together
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`

	top string // the parameter, where Name leads into its value
}

// Subject is what the problem is about: parameter NAME.
func (p ParamProblem) Subject() string {
	if p.Name == "" {
		return "the parameters together"
	}
	return "parameter " + p.Name
}

// within is the problem with the parameter into whose value Name leads.
func (p ParamProblem) within(parameter string) ParamProblem {
	p.top = parameter
	return p
}

// Parameter is the name of the parameter, "" where the problem is about all of them.
func (p ParamProblem) Parameter() string { return cmp.Or(p.top, p.Name) }

func (e *ParamsError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = fmt.Sprintf("%s: %s", p.Subject(), p.Message)
		if p.Hint != "" {
			lines[i] += " (" + p.Hint + ")"
		}
	}
	return strings.Join(lines, "\n")
}
