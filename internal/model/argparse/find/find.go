// Package find finds the call in what a language model wrote.
//
// The text may be the call as a whole: JSON, JSON in quotes or with escaped quotes, lines of names and values (documents).
// Otherwise a scanner walks over prose, fences, tags and function calls and collects the candidates. Equal candidates count
// as one, and different ones are refused. From the call, the envelopes are removed until the object with the arguments is
// left.
package find

import (
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/grammar"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

// Call returns the object with the arguments of the call in a text.
func Call(r *grammar.Reading, text string) (node.Node, bool) {
	f := &finder{r}
	n, ok := f.call(node.Source{Text: text}, 0)
	if !ok {
		return n, false
	}
	return f.argumentsOf(n, 0)
}

// call reads a text that contains one call, or none. level counts the strings around it.
func (r *finder) call(src node.Source, level int) (node.Node, bool) {
	if n, done, ok := r.JSON(src); done {
		return n, ok
	}
	d := documents{r.NewParser(src)}
	start := d.SkipSpaces(0)
	end := len(strings.TrimRightFunc(src.Text, token.Invisible))
	if start >= end || src.Text[start:end] == "None" {
		r.AddRepair("empty", src.At(start))
		return node.Node{Kind: node.Object, Off: src.At(start)}, true
	}
	if n, done, ok := d.escapedObject(start, end); done {
		return n, ok
	}
	if n, done, ok := d.quotedWhole(start, end); done {
		return n, ok
	}
	s := &scanner{Parser: d.Parser, documents: d, tagReader: tagReader{d.Parser}, callReader: callReader{d.Parser}, finder: r, first: start}
	if !s.thoughts(start) {
		return node.Node{}, false
	}
	if d.hasBracelessObject(d.Skip(d.Pos), end) {
		return d.bracelessObject(end)
	}
	if i, ok := d.linesAt(d.Skip(d.Pos)); ok {
		d.Pos = i
		return d.Lines()
	}
	if d.listOfOne(d.Pos) {
		return d.oneInList()
	}
	if i, ok := d.linesAfterProse(d.Pos); ok {
		d.Fix("prose", d.Pos)
		d.Pos = i
		return d.Lines()
	}
	if !s.run() {
		return node.Node{}, false
	}
	n, ok := s.choose(level)
	d.Unlike()
	return n, ok
}
