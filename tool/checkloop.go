package tool

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// checkForEach looks at a for-each as a whole.
func checkForEach(d *decoder, into any, n *yaml.Node, content []*yaml.Node) {
	l := into.(*Loop)
	l.Pos = d.pos(n)
	items := valueOf(content, "items")
	switch {
	case items == nil:
		d.fail(n, "no-items", "for-each does not say over what", "add 'items:' with a list, or with a reference such as \"{FILES}\"")
	case l.Items == nil: // told where it was read
	case l.Items.Map != nil:
		d.wrongType(deref(items), "a list")
	case l.Items.List == nil && l.Items.Text == nil:
		d.fail(items, "wrong-type", "expected a list, found "+describe(deref(items)), "write [a, b], a reference to a list in quotes, or an expression such as 1..5")
	}
}

// checkMatrix looks at a matrix as a whole.
func checkMatrix(d *decoder, into any, n *yaml.Node, content []*yaml.Node) {
	l := into.(*Loop)
	l.Pos = d.pos(n)
	if len(l.Axes) == 0 && len(l.Include) == 0 {
		d.fail(n, "no-items", "matrix has no values", "add names with lists of values: os: [linux, macos]")
	}
	for _, a := range l.Axes {
		switch {
		case !parameterName().MatchString(a.Key):
			d.reportAt(a.Pos, Error, "bad-name", printable(a.Key), fmt.Sprintf("%s cannot be a name in a matrix", quote(a.Key)), "use letters, digits, '_' and '-', beginning with a letter or '_'")
		case a.Value.List == nil && a.Value.Text == nil:
			d.reportAt(a.Value.Pos, Error, "wrong-type", printable(a.Key), fmt.Sprintf("%s needs a list of values", quote(a.Key)), "write "+a.Key+": [a, b], or a reference to a list in quotes")
		}
	}
	for key, list := range map[string][]Value{"include": l.Include, "exclude": l.Exclude} {
		for i, v := range list {
			part := fmt.Sprintf("%s[%d]", key, i)
			if v.Map == nil {
				d.reportAt(v.Pos, Error, "wrong-type", part, "a combination is a mapping of names to values", "write {os: linux, arch: arm64}")
				continue
			}
			for _, e := range v.Map {
				known := slices.ContainsFunc(l.Axes, func(a Entry) bool { return a.Key == e.Key })
				if key == "exclude" && !known {
					d.reportAt(e.Pos, Error, "unknown-key", part+"."+printable(e.Key), fmt.Sprintf("the matrix has no values called %s", quote(e.Key)), orList("", "names: ", keysOf(l.Axes)))
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

// loops looks at what a step says of loops and groups.
func (d *decoder) loops(s *Step, content []*yaml.Node) {
	if keyOf(content, "for-each") != nil && keyOf(content, "matrix") != nil {
		d.failKey(keyOf(content, "matrix"), "two-loops", "a step loops over one thing: for-each and matrix are both given", "keep one of the two, or put one on a step of a group")
	}
	if steps := valueOf(content, "steps"); steps != nil && deref(steps).Kind == yaml.SequenceNode && len(deref(steps).Content) == 0 {
		d.fail(steps, "no-steps", "the group of steps is empty", "add a step: - name: ... with a command such as bash:")
	}
}

// stepList is steps that stand in one list, where they can wait for each other.
type stepList struct {
	path  string
	steps []*Step
}

// lists are all the lists of steps of a definition, outer ones first.
func (t *draft) lists() []stepList {
	var all []stepList
	var visit func(path string, steps []*Step)
	visit = func(path string, steps []*Step) {
		if len(steps) == 0 {
			return
		}
		all = append(all, stepList{path, steps})
		for i, s := range steps {
			if s.plain() {
				continue
			}
			at := fmt.Sprintf("%s[%d].", path, i)
			visit(at+"steps", s.Steps)
			s.Handlers.each(func(key string, list []*Step) { visit(at+key, list) })
		}
	}
	visit("steps", t.Steps)
	t.Handlers.each(visit)
	return all
}

// Each calls visit for every step of the handlers, in the order they run.
func (h *Handlers) Each(visit func(*Step)) {
	h.each(func(_ string, steps []*Step) {
		for _, s := range steps {
			visit(s)
		}
	})
}

// plain says whether the step holds no other steps.
func (s *Step) plain() bool { return s.Steps == nil && s.Handlers.Empty() }

// Empty says whether there are no handlers.
func (h *Handlers) Empty() bool { return h.OnSuccess == nil && h.OnFailure == nil && h.Finally == nil }

func (h *Handlers) each(visit func(key string, steps []*Step)) {
	visit("on-success", h.OnSuccess)
	visit("on-failure", h.OnFailure)
	visit("finally", h.Finally)
}

// handlers reports handlers of handlers, which would never be over.
func (d *decoder) handlers(t *draft, lists []stepList) {
	refuse := func(key string, steps []*Step) {
		for _, s := range steps {
			s.Handlers.each(func(inner string, list []*Step) {
				if len(list) > 0 {
					d.report(Diagnostic{Code: "handler-of-handler", Severity: Error, Pos: list[0].Pos, Len: max(1, len(list[0].Name)), Path: key,
						Message: fmt.Sprintf("step %s is a handler itself (%s) and can have no %s", quote(s.Name), key, inner), Hint: "put the steps after it in the same list"})
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

// itemNames reports names of items that stand for something else already.
func (d *decoder) itemNames(t *draft, lists []stepList, steps map[string]*Step) {
	for _, l := range lists {
		for i, s := range l.steps {
			if s.Loop == nil || s.Loop.As == nil || s.Loop.As.S == "item" {
				continue
			}
			as := *s.Loop.As
			one := Diagnostic{Severity: Error, Pos: as.Pos, Len: max(1, len([]rune(as.S))), Path: fmt.Sprintf("%s[%d].for-each.as", l.path, i)}
			switch {
			case !parameterName().MatchString(as.S):
				one.Code, one.Message, one.Hint = "bad-name", fmt.Sprintf("%s cannot be the name of an item", quote(as.S)), "use letters, digits, '_' and '-', beginning with a letter or '_'"
			case slices.Contains(reserved, as.S), slices.Contains(predefined, as.S):
				one.Code, one.Message, one.Hint = "reserved-name", fmt.Sprintf("%s cannot be the name of an item: it stands for something else", quote(as.S)), "choose another name"
			case steps[as.S] != nil, slices.ContainsFunc(t.Parameters, func(p *Parameter) bool { return p.Name == as.S }):
				one.Code, one.Message, one.Hint = "name-taken", fmt.Sprintf("%s is the name of a step or a parameter", quote(as.S)), "choose another name: a reference could mean either"
			default:
				continue
			}
			d.report(one)
		}
	}
}
