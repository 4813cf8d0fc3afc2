package argparse

import (
	"unicode/utf8"
)

// Repair is one deviation from JSON (Result.Repairs), or from the declared type of a value
// (Result.Coercions).
type Repair struct {
	Kind   string `json:"kind"`
	Path   string `json:"path"`   // opts[0].name; "" for the whole text
	Offset int    `json:"offset"` // of its start in the input, in bytes
}

// Result is the arguments of a call. Values are string, bool, nil, json.Number with the digits
// of the input, []any and map[string]any.
type Result struct {
	Value     map[string]any
	Repaired  bool     // the text was not a JSON object with the parameters
	Repairs   []Repair // of the text, at most 100
	Coercions []Repair // of values, such as "10" for a number
	Defaults  []string // parameters that got their default, in declared order
}

// maxInput limits the input, in bytes.
const maxInput = 1 << 20

// Parse reads the arguments that a language model wrote for a tool. tool is the name of the
// called tool, "" if it is not known. It returns either a Result or a Refusal. A nil Schema
// accepts any object. Parse is safe for concurrent use. It does not modify its arguments, and
// defaults in the Result are copies.
func Parse(s *Schema, tool string, input []byte) (*Result, *Refusal) {
	if s == nil {
		s = &Schema{}
	}
	r := newReading(s, tool, len(input))
	defer r.end()
	if res, ok := parse(r, input); ok {
		return res, nil
	}
	return nil, r.bad.finish(s)
}

func parse(r *Reading, input []byte) (*Result, bool) {
	if len(input) > maxInput {
		return nil, r.fail("too-large", maxInput, "the arguments are larger than 1 MiB")
	}
	if !utf8.Valid(input) {
		return nil, r.fail("encoding", badByte(input), "the arguments are not valid UTF-8")
	}
	n, ok := findCall(r, string(input))
	if !ok {
		return nil, false
	}
	return arguments(r, &n)
}

func badByte(b []byte) int {
	for i := 0; i < len(b); {
		c, size := utf8.DecodeRune(b[i:])
		if c == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return 0
}
