package argparse

import (
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/model/argparse/bind"
	"github.com/flowrun/flowrun/internal/model/argparse/find"
	"github.com/flowrun/flowrun/internal/model/argparse/grammar"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// The types of Parse.
type (
	Schema   = schema.Schema
	Property = schema.Property
	Repair   = report.Repair
	Refusal  = report.Refusal
	Result   = bind.Result
)

// Example returns a valid call as a JSON object, which refusals show as the expected format.
func Example(s *Schema) string { return report.Example(s) }

// ExampleOf is Example with values that all rules accept, if there is a way.
func ExampleOf(s *Schema, rules report.Rules) string { return report.ExampleOf(s, rules) }

// maxInput limits the input, in bytes.
const maxInput = 1 << 20

// Parse reads the arguments that a language model wrote for a tool. tool is the name of the called tool, "" if it is not
// known. It returns either a Result or a Refusal. A nil Schema accepts any object. Parse is safe for concurrent use. It
// does not modify its arguments, and defaults in the Result are copies.
func Parse(s *Schema, tool string, input []byte) (*Result, *Refusal) {
	if s == nil {
		s = &Schema{}
	}
	r := grammar.NewReading(s, tool, len(input))
	defer r.End()
	if res, ok := parse(r, input); ok {
		return res, nil
	}
	return nil, r.Bad.Finish(s)
}

func parse(r *grammar.Reading, input []byte) (*Result, bool) {
	if len(input) > maxInput {
		return nil, r.Fail("too-large", maxInput, "the arguments are larger than 1 MiB")
	}
	if !utf8.Valid(input) {
		return nil, r.Fail("encoding", badByte(string(input)), "the arguments are not valid UTF-8")
	}
	n, ok := find.Call(r, string(input))
	if !ok {
		return nil, false
	}
	return bind.Arguments(r, &n)
}

func badByte(text string) int {
	for i, c := range text {
		if c == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return i
		}
	}
	return len(text)
}
