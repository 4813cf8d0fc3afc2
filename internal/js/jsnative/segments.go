package jsnative

import (
	"strings"
	"unicode"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/sentences"
	"github.com/clipperhouse/uax29/v2/words"
)

// Segment is a part of a text.
type Segment struct {
	Text string
	Word bool // has a letter or a digit
}

// Segments divides a text into its sentences, its words with what is between them, or its characters, as Unicode
// Standard Annex 29 says. granularity is sentence, word or grapheme.
func Segments(granularity, text string) (list []Segment) {
	var all interface {
		Next() bool
		Value() string
	}
	switch granularity {
	case "sentence":
		all = sentences.FromString(text)
	case "word":
		all = words.FromString(text)
	default:
		all = graphemes.FromString(text)
	}
	for all.Next() {
		part := all.Value()
		list = append(list, Segment{part, strings.ContainsFunc(part, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })})
	}
	return list
}
