package tool

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// checkForEach checks a for-each as a whole.
func checkForEach(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	l := into.(*Loop)
	l.Pos = d.Pos(n)
	items := keytable.ValueOf(content, "items")
	switch {
	case items == nil:
		d.Fail(n, "no-items", "for-each has no items", "add 'items:' with a list, or with a reference such as \"{FILES}\"")
	case l.Items == nil: // the field has already reported it
	case l.Items.Map != nil:
		d.WrongType(keytable.Deref(items), "a list")
	case l.MinSuccess > len(l.Items.List) && len(l.Items.List) > 0:
		d.Warn(keytable.ValueOf(content, "min-success"), "no-effect", fmt.Sprintf("%d items must succeed, but the list has %d: so all must succeed", l.MinSuccess, len(l.Items.List)), "lower min-success, or leave it out")
	case l.Items.List == nil && l.Items.Text == nil:
		d.Fail(items, "wrong-type", "expected a list, found "+keytable.Describe(keytable.Deref(items)), "write [a, b], a reference to a list in quotes, or an expression such as 1..5")
	}
}

// checkMatrix checks a matrix as a whole.
func checkMatrix(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	l := into.(*Loop)
	l.Pos = d.Pos(n)
	if len(l.Axes) == 0 && len(l.Include) == 0 {
		d.Fail(n, "no-items", "matrix has no values", "add names with lists of values: os: [linux, macos]")
	}
	for _, a := range l.Axes {
		switch {
		case !parameterName().MatchString(a.Key):
			reportAt(d, a.Pos, Error, "bad-name", diagnostic.Printable(a.Key), fmt.Sprintf("%s cannot be the name of a matrix value", diagnostic.Quote(a.Key)), "use letters, digits, '_' and '-', beginning with a letter or '_'")
		case a.Value.List == nil && a.Value.Text == nil:
			reportAt(d, a.Value.Pos, Error, "wrong-type", diagnostic.Printable(a.Key), fmt.Sprintf("%s needs a list of values", diagnostic.Quote(a.Key)), "write "+a.Key+": [a, b], or a reference to a list in quotes")
		}
	}
	for key, list := range map[string][]Value{"include": l.Include, "exclude": l.Exclude} {
		for i, v := range list {
			part := fmt.Sprintf("%s[%d]", key, i)
			if v.Map == nil {
				reportAt(d, v.Pos, Error, "wrong-type", part, "expected a mapping of names to values", "write {os: linux, arch: arm64}")
				continue
			}
			for _, e := range v.Map {
				known := slices.ContainsFunc(l.Axes, func(a Entry) bool { return a.Key == e.Key })
				if key == "exclude" && !known {
					reportAt(d, e.Pos, Error, "unknown-key", part+"."+diagnostic.Printable(e.Key), fmt.Sprintf("the matrix has no values named %s", diagnostic.Quote(e.Key)), hintOrList("", "names: ", keysOf(l.Axes)))
				}
			}
		}
	}
}

func keysOf(list []Entry) []string {
	keys := make([]string, len(list))
	for i, e := range list {
		keys[i] = e.Key
	}
	return keys
}

// checkLoops checks the loops and the group of a step.
func checkLoops(d *keytable.Decoder, content []*yaml.Node) {
	if keytable.KeyOf(content, "for-each") != nil && keytable.KeyOf(content, "matrix") != nil {
		d.FailKey(keytable.KeyOf(content, "matrix"), "two-loops", "a step can have either for-each or matrix, not both", "keep one of the two, or make the step a group and loop in a step of the group")
	}
	if steps := keytable.ValueOf(content, "steps"); steps != nil && keytable.Deref(steps).Kind == yaml.SequenceNode && len(keytable.Deref(steps).Content) == 0 {
		d.Fail(steps, "no-steps", "the group of steps is empty", "add a step: - name: ... with a command such as bash:")
	}
}

// stepList is a list of steps. Steps can only wait for steps of their own list.
type stepList struct {
	path  string
	steps []*Step
}

// lists returns all lists of steps in the definition, outer ones first.
func (t *Draft) lists() []stepList {
	var all []stepList
	var visit func(path string, steps []*Step)
	visit = func(path string, steps []*Step) {
		if len(steps) == 0 {
			return
		}
		all = append(all, stepList{path, steps})
		for i, s := range steps {
			if s.containsNoSteps() {
				continue
			}
			at := fmt.Sprintf("%s[%d].", path, i)
			visit(at+"steps", s.Steps())
			s.Handlers.each(func(key string, list []*Step) { visit(at+key, list) })
		}
	}
	visit("steps", t.Steps)
	t.Handlers.each(visit)
	return all
}

// Each calls visit for every step of the handlers, in the order in which they run.
func (h *Handlers) Each(visit func(*Step)) {
	h.each(func(_ string, steps []*Step) {
		for _, s := range steps {
			visit(s)
		}
	})
}

// containsNoSteps reports whether the step contains no other steps.
func (s *Step) containsNoSteps() bool { return s.Steps() == nil && s.Handlers.Empty() }

// Empty reports whether there are no handlers.
func (h *Handlers) Empty() bool { return h.OnSuccess == nil && h.OnFailure == nil && h.Finally == nil }

func (h *Handlers) each(visit func(key string, steps []*Step)) {
	visit("on-success", h.OnSuccess)
	visit("on-failure", h.OnFailure)
	visit("finally", h.Finally)
}

// checkHandlers reports handlers of handlers: such a chain would never end.
func checkHandlers(d *keytable.Decoder, t *Draft, lists []stepList) {
	refuse := func(key string, steps []*Step) {
		for _, s := range steps {
			s.Handlers.each(func(inner string, list []*Step) {
				if len(list) > 0 {
					d.Report(Diagnostic{Code: "handler-of-handler", Severity: Error, Pos: list[0].Pos, Len: max(1, len(list[0].Name)), Path: key,
						Message: fmt.Sprintf("step %s is a handler (%s) and cannot have %s", diagnostic.Quote(s.Name), key, inner), Hint: "add the steps after it, in the same list"})
				}
			})
		}
	}
	t.Handlers.each(refuse)
	for _, l := range lists {
		for _, s := range l.steps {
			if !s.Handlers.Empty() {
				s.Handlers.each(refuse)
			}
		}
	}
}

// checkItemNames reports names of loop items that are invalid or already used.
func checkItemNames(d *keytable.Decoder, t *Draft, lists []stepList, steps map[string]*Step) {
	for _, l := range lists {
		for i, s := range l.steps {
			if s.Loop == nil || s.Loop.As == nil || s.Loop.As.S == "item" {
				continue
			}
			as := *s.Loop.As
			one := Diagnostic{Severity: Error, Pos: as.Pos, Len: max(1, len([]rune(as.S))), Path: fmt.Sprintf("%s[%d].for-each.as", l.path, i)}
			switch {
			case !parameterName().MatchString(as.S):
				one.Code, one.Message, one.Hint = "bad-name", fmt.Sprintf("%s cannot be the name of an item", diagnostic.Quote(as.S)), "use letters, digits, '_' and '-', beginning with a letter or '_'"
			case slices.Contains(reserved, as.S), slices.Contains(predefined, as.S):
				one.Code, one.Message, one.Hint = "reserved-name", fmt.Sprintf("%s cannot be the name of an item: the name is reserved", diagnostic.Quote(as.S)), "choose another name"
			case steps[as.S] != nil, slices.ContainsFunc(t.Parameters, func(p *Parameter) bool { return p.Name == as.S }):
				one.Code, one.Message, one.Hint = "name-taken", fmt.Sprintf("%s is the name of a step or a parameter", diagnostic.Quote(as.S)), "choose another name, so that references are clear"
			default:
				continue
			}
			d.Report(one)
		}
	}
}
