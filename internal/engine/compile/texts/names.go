package texts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// validInScript reports whether a script can use name for an item: it must be an identifier, and must not have another
// meaning in every script.
func validInScript(name string) bool {
	return !strings.ContainsAny(name, ".-") && !slices.Contains([]string{"params", "steps", "env", "undefined", "NaN", "Infinity"}, name)
}

// predefined returns the variables that every definition can refer to.
func predefined() diagnostic.Words {
	return diagnostic.Words{"DATE", "HOME", "OS", "TEMP", "TIME", "TIMESTAMP", "TOOL_NAME", "WORKSPACE"}
}

// Scope is the names that a text can refer to: those of a definition, or a variant of them for one kind of text.
type Scope interface {
	expr.Names
	expr.Speller
	near(id string) []string                     // similar names, best first
	secrets() []string                           // the variables of the environment that are secrets
	itemName() string                            // the name that as: gives to the item of the innermost loop, if it does
	OutOfReach(id string) (message, hint string) // why a name that exists elsewhere is not available here
}

// Names resolves the roots of references in one definition. Parameters take precedence over predefined variables, and
// those over steps (which cannot have the same names as parameters).
type Names struct {
	params     map[string]string       // name -> type
	paramWords func() diagnostic.Words // their names
	steps      map[string]*tool.Step
	stepWords  func() diagnostic.Words // their names; nil if there are none
	locals     map[string]bool         // of a loop's item, or of a handler
	fixedItems bool                    // the author determines all items of the loop
	outer      *Names                  // of the list of steps that contains the group or handler
	itemAlias  string                  // the name of the item, if locals contains one
	axes       []string                // the valid names in {matrix.NAME}, if locals contains matrix
	def        *tool.Definition
	allSteps   map[string]bool                      // all steps of the definition, in any list
	used       func(*tool.ToolUse) *tool.Definition // returns the tool that a step uses, nil if there is none
}

// NamesOf returns the names in the texts of a definition. used returns the tool that a step uses.
func NamesOf(def *tool.Definition, used func(*tool.ToolUse) *tool.Definition) Names {
	n := Names{used: used, params: map[string]string{}, steps: map[string]*tool.Step{}, allSteps: map[string]bool{}, def: def}
	for _, p := range def.Parameters {
		n.params[p.Name] = p.Type
	}
	if !def.Single { // the step of a single tool cannot be referred to
		for _, s := range def.Steps {
			n.steps[s.Name] = s
			n.addStep(s)
		}
		def.Handlers.Each(n.addStep)
	}
	n.paramWords, n.stepWords = wordsOf(n.params), wordsOf(n.steps)
	return n
}

// wordsOf returns the keys of a map, which are sorted when they are first needed: only for references to something unknown.
func wordsOf[V any](names map[string]V) func() diagnostic.Words {
	return sync.OnceValue(func() diagnostic.Words { return diagnostic.NewWords(maps.Keys(names)) })
}

// addStep adds a step, the steps inside it and its handlers to all.
func (n Names) addStep(s *tool.Step) {
	n.allSteps[s.Name] = true
	for _, in := range s.Steps() {
		n.addStep(in)
	}
	s.Handlers.Each(n.addStep)
}

// OutOfReach explains why a name that exists elsewhere is not available here. It returns "" for other names.
func (n Names) OutOfReach(id string) (message, hint string) {
	switch {
	case n.allSteps[id]:
		return fmt.Sprintf("cannot refer to step %q here: it is in another list of steps", id),
			"refer to the step that contains it; a step can refer to steps in its own list and in the lists around it"
	case id == "run":
		return "{run...} is only available in handlers", "use it under on-success, on-failure or finally"
	case id == "last":
		return "{last...} is only available in retry.when", "refer to a step, as in {STEP.exit-code}"
	case id == "matrix":
		return "{matrix...} is only available in a step with matrix", "add a matrix to the step or to the group around it"
	case id == "item", id == "index":
		return fmt.Sprintf("{%s} is only available in a step with for-each, unless as: gives the item another name", id), "add for-each to the step or to the group around it"
	}
	return "", ""
}

// Symbol resolves id in the texts of a step.
func (n Names) Symbol(id string) expr.Symbol {
	if typ, ok := n.params[id]; ok {
		return expr.Symbol{Class: expr.Parameter, Type: typ}
	}
	if slices.Contains(predefined(), id) {
		return expr.Symbol{Class: expr.Variable}
	}
	if id == "state" && len(n.def.State) > 0 {
		return expr.Symbol{Class: expr.State}
	}
	for at := &n; at != nil; at = at.outer {
		switch {
		case at.steps[id] != nil:
			return expr.Symbol{Class: expr.Step, Type: artifactType(at.steps[id])}
		case at.locals[id]:
			return expr.Symbol{Class: expr.Local}
		}
	}
	return expr.Symbol{}
}

// State implements expr.Keeper.
func (n Names) State() map[string]string {
	types := make(map[string]string, len(n.def.State))
	for _, k := range n.def.State {
		types[k.Name] = k.Type
	}
	return types
}

// WithSteps returns the names for a nested list of steps.
func (n Names) WithSteps(list []*tool.Step) Names {
	inner := Names{params: n.params, paramWords: n.paramWords, steps: make(map[string]*tool.Step, len(list)), outer: &n, used: n.used,
		allSteps: n.allSteps, def: n.def}
	for _, s := range list {
		inner.steps[s.Name] = s
	}
	inner.stepWords = wordsOf(inner.steps)
	return inner
}

// WithLocals returns the names for a handler, which adds locals.
func (n Names) WithLocals(locals map[string]bool) Names {
	return Names{params: n.params, paramWords: n.paramWords, locals: locals, outer: &n, used: n.used, allSteps: n.allSteps, def: n.def}
}

// WithItem returns the names for a loop, which adds those of an item. fixed reports that the author determines all items,
// axes are the valid names in {matrix.NAME}.
func (n Names) WithItem(locals map[string]bool, item string, fixed bool, axes []string) Names {
	inner := n.WithLocals(locals)
	inner.itemAlias, inner.fixedItems, inner.axes = item, fixed, axes
	return inner
}

// HasLocal reports whether the innermost loop or handler adds a name.
func (n Names) HasLocal(name string) bool { return n.locals[name] }

// HasParameter reports whether the definition declares a parameter.
func (n Names) HasParameter(name string) bool {
	_, ok := n.params[name]
	return ok
}

// Parameters returns the parameters of the definition, sorted. The slice is shared.
func (n Names) Parameters() []string { return n.paramWords() }

// HasStep reports whether the definition has a step, in any list.
func (n Names) HasStep(name string) bool { return n.allSteps[name] }

// Combination returns the names in the innermost matrix.
func (n Names) Combination() []string {
	for at := &n; at != nil; at = at.outer {
		if at.locals["matrix"] {
			return at.axes
		}
	}
	return nil
}

// Misspelt implements expr.Speller: it returns the parameters, steps and names of items that id probably misspells.
func (n Names) Misspelt(id string) []string {
	if elsewhere, _ := n.OutOfReach(id); elsewhere != "" {
		return nil
	}
	return diagnostic.Misspelt(id, n.declared()...)
}

// IsText implements expr.Speller.
func (n Names) IsText(id string) bool { return slices.Contains(n.def.TextInBraces, id) }

// declared returns the parameters, the steps and the names of items.
func (n Names) declared() []diagnostic.Words {
	sets := []diagnostic.Words{n.paramWords()}
	for at := &n; at != nil; at = at.outer {
		if at.stepWords != nil {
			sets = append(sets, at.stepWords())
		}
		if len(at.locals) > 0 {
			sets = append(sets, diagnostic.NewWords(maps.Keys(at.locals)))
		}
	}
	return sets
}

// near returns the names that are most similar to id, best first.
func (n Names) near(id string) []string {
	return diagnostic.Near(id, diagnostic.Merge(append(n.declared(), predefined())...))
}

// withoutSteps returns the names for retry.when, which can refer to {last...} but not to steps.
func (n Names) withoutSteps() Names {
	bare := Names{params: n.params, paramWords: n.paramWords, locals: n.locals, def: n.def}
	if n.outer != nil {
		around := n.outer.withoutSteps()
		bare.outer = &around
	}
	return bare
}

// InEnvironment returns the names in values of environment variables.
func (n Names) InEnvironment() Scope { return environNames{n} }

// InRetry returns the names in retry.when of a step.
func (n Names) InRetry(s *tool.Step) Scope {
	return lastNames{n.withoutSteps(), n.declaredOutputs(s), n}
}

// environNames are the names in values of environment variables. Only there, an undeclared {NAME} is the variable of
// the process with that name.
type environNames struct{ Names }

func (n environNames) Symbol(id string) expr.Symbol {
	if s := n.Names.Symbol(id); s.Class != expr.Unknown || !isEnvName(id) {
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

// lastNames are the names in retry.when: {last.exit-code} and the parameters.
type lastNames struct {
	Names
	outputs []*tool.DeclaredOutput // of the step
	around  Names                  // the names in other texts of the step
}

func (n lastNames) Symbol(id string) expr.Symbol {
	if id == "last" {
		return expr.Symbol{Class: expr.Last}
	}
	return n.Names.Symbol(id)
}

// Outputs implements expr.Declarer.
func (n lastNames) Outputs(string) map[string]string {
	types := make(map[string]string, len(n.outputs))
	for _, o := range n.outputs {
		types[o.Name] = o.Type
	}
	return types
}

// OutOfReach explains why steps are not available here.
func (n lastNames) OutOfReach(id string) (message, hint string) {
	if n.around.Symbol(id).Class == expr.Step {
		return fmt.Sprintf("retry.when cannot refer to step %q", id), "it reads the attempt that has just failed: {last.exit-code}, {last.output}, {last.outputs.NAME}"
	}
	return n.around.OutOfReach(id)
}

// Locals returns the names that the surrounding loops and handlers add, if they are valid in JavaScript.
func (n Names) Locals() []string {
	var list []string
	for at := &n; at != nil; at = at.outer {
		for name := range at.locals {
			if validInScript(name) && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list)
	return list
}

// declaredOutputs returns the outputs that a step declares: its own, or those of the tool that it uses.
func (n Names) declaredOutputs(s *tool.Step) []*tool.DeclaredOutput {
	use, ok := s.Body.(*tool.ToolUse)
	if !ok {
		return s.DeclaredOutputs()
	}
	if def := n.used(use); def != nil {
		return def.Outputs
	}
	return nil
}

// Outputs implements expr.Declarer. Outside of a loop, an output of its step is the list of the values of all items.
func (n Names) Outputs(step string) map[string]string {
	for at := &n; at != nil; at = at.outer {
		s := at.steps[step]
		if s == nil {
			continue
		}
		types := map[string]string{}
		for _, o := range n.declaredOutputs(s) {
			if types[o.Name] = o.Type; s.Loop != nil {
				types[o.Name] = "array"
			}
		}
		return types
	}
	return nil
}

// Steps returns the steps that can be referred to: those of each list sorted, the innermost list first.
func (n Names) Steps() (list []string) {
	for at := &n; at != nil; at = at.outer {
		if at.stepWords != nil {
			list = append(list, at.stepWords()...)
		}
	}
	return list
}

// artifactType returns the type of references to the artifacts of a step, "" if it is not known: a step that uses a tool,
// or a group, may contain loops.
func artifactType(s *tool.Step) string {
	switch {
	case s.Loop != nil:
		return "array"
	case len(s.Artifacts) > 0:
		return "string"
	}
	return ""
}
