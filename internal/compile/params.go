package compile

import (
	"regexp"
	"strings"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/tool"
)

// parameters compiles the parameters and puts them into an order in which a
// default comes after the parameters it names (S1-132).
func (c *compiler) parameters(p *plan.Plan, n names) {
	byName := map[string]*plan.Param{}
	for _, def := range p.Definition.Parameters {
		prm := &plan.Param{Def: def}
		if p.Definition.Schema == nil || def.Default != nil && def.Default.Pos.Line > 0 { // of an alias: it may hold references
			prm = c.parameter(def, n)
		}
		byName[def.Name] = prm
	}
	o := &defaultOrder{compiler: c, params: byName, state: map[string]int{}}
	for _, def := range p.Definition.Parameters {
		o.visit(def.Name)
	}
	p.Params = o.sorted
}

func (c *compiler) parameter(def *tool.Parameter, n names) *plan.Param {
	prm := &plan.Param{Def: def}
	path := "parameters." + def.Name
	if def.Transform != nil {
		c.transforms(prm, *def.Transform)
	}
	if def.Format != nil {
		f, ps := expr.ParseFormat(def.Format.S, def.Type)
		if !c.found(*def.Format, path+".format", ps, n) {
			prm.Format = f
		}
	}
	if pat := def.Validation.Pattern; pat != nil {
		prm.Pattern, _ = regexp.Compile(pat.S) // an error was diagnosed by package tool
	}
	if def.Default != nil {
		t := c.tree(*def.Default, path+".default", n, func(at tool.Text, refs []expr.Ref) { c.mentionsNoStep(at, refs) })
		prm.Initial = &t
	}
	return prm
}

// defaultOrder sorts parameters by what their defaults mention.
type defaultOrder struct {
	*compiler
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
				o.errorf("default-cycle", at, "give one of them a plain default",
					"defaults name each other in a circle: %s", strings.Join(append(o.path, r.Root), " -> "))
			}
		}
	}
	o.path = o.path[:len(o.path)-1]
	o.state[name] = 2
	o.sorted = append(o.sorted, prm)
}
