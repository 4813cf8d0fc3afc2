package expr

import (
	"strings"

	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// Format is a parameter's `format`: text of the author with {value} in it. Spaces in the text
// separate words. {value} is one word, whatever it contains. A format is applied to each element
// of an array. It does not change. Safe for concurrent use.
type Format struct {
	pieces []piece
}

// formatNames knows the one name of a format: value.
type formatNames struct{ typ string }

func (n formatNames) Symbol(id string) Symbol {
	if id == "value" {
		return Symbol{Class: Local, Type: n.typ}
	}
	return Symbol{}
}

// ParseFormat parses a parameter's `format`. paramType is the type of the parameter, "" if it is
// not known.
func ParseFormat(src string, paramType string) (*Format, []Problem) {
	if paramType == "array" {
		paramType = "" // the format is applied to the elements
	}
	pieces, problems := scan(src, Plain, formatNames{paramType})
	return &Format{pieces: pieces}, problems
}

// valueScope returns the value for {value}.
type valueScope struct{ v any }

func (s valueScope) Lookup(Ref) (Value, error) { return Value{V: s.v, Text: true}, nil }

// words formats each element and returns the words of all. A formatted value that is empty adds no
// word.
func (f *Format) words(elems []any) ([]string, error) {
	var all []string
	var size valuetext.Total
	for _, e := range elems {
		words, err := f.element(e)
		if err == nil {
			err = size.AddAll(words, "the formatted value")
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
	var size valuetext.Total
	for _, p := range f.pieces {
		if p.placeholder == nil {
			w.addSplit(p.text)
			continue
		}
		value, _, err := p.placeholder.value(valueScope{v})
		if err != nil {
			return nil, err
		}
		if value.literal {
			w.addSplit(valuetext.Of(value.V, ""))
			continue
		}
		text := valuetext.Of(value.V, value.Delimiter)
		if err := size.Add(len(text), "the formatted value"); err != nil {
			return nil, err
		}
		w.addText(text)
	}
	words := w.words
	if strings.Join(words, "") == "" {
		return nil, nil
	}
	return words, nil
}

// wordBuilder collects words: text is joined to the word before it, a space ends that word.
type wordBuilder struct {
	words  []string
	inWord bool
}

func (w *wordBuilder) addText(s string) {
	if !w.inWord {
		w.words, w.inWord = append(w.words, ""), true
	}
	w.words[len(w.words)-1] += s
}

// addSplit adds text in which spaces separate words.
func (w *wordBuilder) addSplit(s string) {
	for s != "" {
		n := strings.IndexAny(s, " \t\n")
		switch {
		case n < 0:
			w.addText(s)
			return
		case n > 0:
			w.addText(s[:n])
		}
		w.inWord = false
		s = s[n+1:]
	}
}
