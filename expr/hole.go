package expr

import (
	"fmt"
	"slices"
)

// hole is one `{...}` of a template: a reference with transforms, or a choice
// between two branches.
type hole struct {
	off, len   int
	ref        Ref // of a choice: the zero Ref
	transforms []Transform
	choice     *choice
	sits       position // in scripts: what surrounds it
}

// choice is `{cond ? a : b}`.
type choice struct {
	cond      *Condition
	then, els branch
}

// branch is one side of a choice: the author's text, or a reference.
type branch struct {
	literal    string
	isRef      bool
	ref        Ref
	transforms []Transform
}

// piece is a stretch of a template: text, or a hole.
type piece struct {
	text string
	hole *hole
}

// value looks the hole's value up and transforms it. The reference is the one
// that gave the value; the zero Ref where the author's own text did.
func (h *hole) value(sc Scope) (Value, Ref, error) {
	if h.choice == nil {
		v, err := lookup(sc, h.ref, h.transforms)
		return v, h.ref, err
	}
	yes, err := h.choice.cond.Eval(sc, Status{})
	if err != nil {
		return Value{}, Ref{}, err
	}
	b := h.choice.els
	if yes {
		b = h.choice.then
	}
	if b.isRef {
		v, err := lookup(sc, b.ref, b.transforms)
		return v, b.ref, err
	}
	return Value{V: b.literal, Author: true, literal: true}, Ref{}, nil
}

func lookup(sc Scope, ref Ref, ts []Transform) (Value, error) {
	v, err := sc.Lookup(ref)
	if err != nil {
		return v, fmt.Errorf("%s: %w", ref, err)
	}
	v.Raw = v.Raw || ref.Raw
	for _, t := range ts {
		if v.V, err = t.Apply(v.V); err != nil {
			return v, fmt.Errorf("%s: %w", ref, err)
		}
	}
	return v, nil
}

// refs adds every reference of the hole to list.
func (h *hole) refs(list []Ref) []Ref {
	if h.choice == nil {
		return append(list, h.ref)
	}
	return h.sources(append(list, h.choice.cond.refs...))
}

// sources adds the references whose values the hole can become.
func (h *hole) sources(list []Ref) []Ref {
	if h.choice == nil {
		return append(list, h.ref)
	}
	for _, b := range []branch{h.choice.then, h.choice.els} {
		if b.isRef {
			list = append(list, b.ref)
		}
	}
	return list
}

// mayVary reports whether the hole's value is anything but a proven number.
func (h *hole) mayVary() bool {
	return h.choice != nil || h.ref.kind != kindNumber
}

// foreign reports whether others than the definition's author and the machine decide
// the hole's text.
func (h *hole) foreign() bool {
	return slices.ContainsFunc(h.sources(nil), func(r Ref) bool {
		return r.Class != Variable && r.Class != Env && r.kind != kindNumber
	})
}

// name is the hole for a message.
func (h *hole) name() string {
	if h.choice != nil {
		return "the choice {... ? ... : ...}"
	}
	return h.ref.String()
}
