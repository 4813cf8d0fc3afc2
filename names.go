package flowrun

import (
	"slices"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/tool"
)

// predefined are the variables every definition may mention (S1-126).
var predefined = []string{"TOOL_NAME", "WORKSPACE", "TEMP", "HOME", "OS", "DATE", "TIME", "TIMESTAMP"}

// names is what roots stand for in one definition: parameters win over
// predefined variables, and those over steps (which cannot be called like them).
type names struct {
	params map[string]string // name -> type
	steps  map[string]bool
}

func namesOf(def *tool.Definition) names {
	n := names{params: map[string]string{}, steps: map[string]bool{}}
	for _, p := range def.Parameters {
		n.params[p.Name] = p.Type
	}
	if !def.Single { // the one step of a single tool has no name to mention
		for _, s := range def.Steps {
			n.steps[s.Name] = true
		}
	}
	return n
}

// Symbol says what id stands for in a step's texts.
func (n names) Symbol(id string) expr.Symbol {
	if typ, ok := n.params[id]; ok {
		return expr.Symbol{Class: expr.Parameter, Type: typ}
	}
	if slices.Contains(predefined, id) {
		return expr.Symbol{Class: expr.Variable}
	}
	if n.steps[id] {
		return expr.Symbol{Class: expr.Step}
	}
	return expr.Symbol{}
}

// ids are all the names, for did-you-mean.
func (n names) ids() []string {
	list := slices.Clone(predefined)
	for id := range n.params {
		list = append(list, id)
	}
	for id := range n.steps {
		list = append(list, id)
	}
	slices.Sort(list)
	return list
}

// toolWide are the names where steps mean nothing: beside {last...} in retry.when.
func (n names) toolWide() names { return names{params: n.params} }

// environNames are the names in values of environment variables: there, and only
// there, an undeclared {NAME} is the process variable of that name (S1-129).
type environNames struct{ names }

func (n environNames) Symbol(id string) expr.Symbol {
	if s := n.names.Symbol(id); s.Class != expr.Unknown || !isEnvName(id) {
		return s
	}
	return expr.Symbol{Class: expr.Variable}
}

func isEnvName(s string) bool {
	for i, c := range s {
		if !(c == '_' || 'A' <= c && c <= 'Z' || i > 0 && '0' <= c && c <= '9') {
			return false
		}
	}
	return s != ""
}

// lastNames are the names of retry.when: {last.exit-code} and the parameters.
type lastNames struct{ names }

func (n lastNames) Symbol(id string) expr.Symbol {
	if id == "last" {
		return expr.Symbol{Class: expr.Last}
	}
	return n.names.Symbol(id)
}
