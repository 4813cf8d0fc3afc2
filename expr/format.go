package expr

import (
	"strings"
)

// Format is a parameter's `format`: the author's text around the value, with
// {value} in it. Its blanks separate words; {value} is one
// word whatever it contains. It applies to each element of an array.
type Format struct {
	pieces []piece
}

// formatNames is the one name a format knows.
type formatNames struct{ typ string }

func (n formatNames) Symbol(id string) Symbol {
	if id == "value" {
		return Symbol{Class: Local, Type: n.typ}
	}
	return Symbol{}
}

// ParseFormat parses a parameter's `format`. paramType is the parameter's type,
// "" if it is not known.
func ParseFormat(src string, paramType string) (*Format, []Problem) {
	if paramType == "array" {
		paramType = "" // the format meets the elements
	}
	pieces, problems := scan(src, formatNames{paramType})
	return &Format{pieces: pieces}, problems
}

// valueScope answers {value}.
type valueScope struct{ v any }

func (s valueScope) Lookup(Ref) (Value, error) { return Value{V: s.v, Text: true}, nil }

// words formats each element and returns all words. What is empty vanishes.
func (f *Format) words(elems []any) ([]string, error) {
	var all []string
	var size sum
	for _, e := range elems {
		words, err := f.element(e)
		if err == nil {
			err = size.addAll(words, "the formatted value")
		}
		if err != nil {
			return nil, err
		}
		all = append(all, words...)
	}
	return all, nil
}

func (f *Format) element(v any) ([]string, error) {
	var w wordBuilder
	var size sum
	for _, p := range f.pieces {
		if p.hole == nil {
			w.blanks(p.text)
			continue
		}
		value, _, err := p.hole.value(valueScope{v})
		if err != nil {
			return nil, err
		}
		if value.literal {
			w.blanks(textOf(value.V, ""))
			continue
		}
		text := textOf(value.V, value.Delimiter)
		if err := size.add(len(text), "the formatted value"); err != nil {
			return nil, err
		}
		w.text(text)
	}
	words := w.words
	if strings.Join(words, "") == "" {
		return nil, nil
	}
	return words, nil
}

// wordBuilder collects words: text sticks to the word before it, blanks end it.
type wordBuilder struct {
	words []string
	open  bool
}

func (w *wordBuilder) text(s string) {
	if !w.open {
		w.words, w.open = append(w.words, ""), true
	}
	w.words[len(w.words)-1] += s
}

// blanks adds text whose blanks separate words.
func (w *wordBuilder) blanks(s string) {
	for s != "" {
		n := strings.IndexAny(s, " \t\n")
		switch {
		case n < 0:
			w.text(s)
			return
		case n > 0:
			w.text(s[:n])
		}
		w.open = false
		s = s[n+1:]
	}
}
