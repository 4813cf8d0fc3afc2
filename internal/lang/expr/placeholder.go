package expr

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/internal/lang/quoting"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// placeholder is one `{...}` of a template: a reference with transforms, or a choice between two
// branches.
type placeholder struct {
	off, len   int
	ref        Ref // the zero Ref for a choice
	transforms []valuetext.Transform
	choice     *choice
	at         quoting.Placeholder // in scripts: what surrounds the placeholder
}

// choice is `{cond ? a : b}`.
type choice struct {
	cond      *Condition
	then, els branch
}

// branch is one side of a choice: text of the author, or a reference.
type branch struct {
	literal    string
	isRef      bool
	ref        Ref
	transforms []valuetext.Transform
}

// piece is a part of a template: text, or a placeholder.
type piece struct {
	text        string
	placeholder *placeholder
}

// value looks up the value of the placeholder and applies the transforms. It also returns the
// reference that gave the value, the zero Ref if the value is text of the author.
func (ph *placeholder) value(sc Scope) (Value, Ref, error) {
	if ph.choice == nil {
		v, err := lookup(sc, ph.ref, ph.transforms)
		return v, ph.ref, err
	}
	yes, err := ph.choice.cond.Eval(sc, Status{})
	if err != nil {
		return Value{}, Ref{}, err
	}
	b := ph.choice.els
	if yes {
		b = ph.choice.then
	}
	if b.isRef {
		v, err := lookup(sc, b.ref, b.transforms)
		return v, b.ref, err
	}
	return Value{V: b.literal, Author: true, literal: true}, Ref{}, nil
}

func lookup(sc Scope, ref Ref, ts []valuetext.Transform) (Value, error) {
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

// refs appends every reference of the placeholder to list.
func (ph *placeholder) refs(list []Ref) []Ref {
	if ph.choice == nil {
		return append(list, ph.ref)
	}
	return ph.sources(append(list, ph.choice.cond.refs...))
}

// sources appends the references whose values the placeholder can become.
func (ph *placeholder) sources(list []Ref) []Ref {
	if ph.choice == nil {
		return append(list, ph.ref)
	}
	for _, b := range []branch{ph.choice.then, ph.choice.els} {
		if b.isRef {
			list = append(list, b.ref)
		}
	}
	return list
}

// mayHoldText reports whether the value can be anything but a proven number.
func (ph *placeholder) mayHoldText() bool {
	return ph.choice != nil || ph.ref.kind != kindNumber
}

// untrusted reports whether someone other than the author of the definition and the machine
// decides the text of the value.
func (ph *placeholder) untrusted() bool {
	return slices.ContainsFunc(ph.sources(nil), func(r Ref) bool {
		return r.Class != Variable && r.Class != Env && r.kind != kindNumber
	})
}

// name returns the placeholder for a message.
func (ph *placeholder) name() string {
	if ph.choice != nil {
		return "the choice {... ? ... : ...}"
	}
	return ph.ref.String()
}
