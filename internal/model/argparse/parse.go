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
	r := newState(s, tool, len(input))
	r.shelf = nodeStacks.Get().(*nodeStack)
	defer r.shelf.put()
	if res, ok := r.parse(input); ok {
		return res, nil
	}
	return nil, r.bad.finish(s)
}

func (r *state) parse(input []byte) (*Result, bool) {
	if len(input) > maxInput {
		return nil, r.fail("too-large", maxInput, "the arguments are larger than 1 MiB")
	}
	if !utf8.Valid(input) {
		return nil, r.fail("encoding", badByte(input), "the arguments are not valid UTF-8")
	}
	n, ok := r.call(source{text: string(input)}, 0)
	if !ok {
		return nil, false
	}
	if n, ok = r.argumentsOf(n, 0); !ok {
		return nil, false
	}
	return r.bind(&n)
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

// json reads a text that is only JSON. done reports whether the result is final, because the
// text is JSON or cannot be anything else.
func (r *state) json(src source) (n node, done, ok bool) {
	n, end, code, ok := readJSON(src, 0)
	switch {
	case ok && isSpaces(src.text[end:]):
		return n, true, true
	case code == "too-deep":
		return n, true, r.fail(code, int(src.at(end)), "objects and arrays are nested more than %d levels deep", maxDepth)
	case code == "encoding":
		return n, true, r.fail(code, int(src.at(end)), "a string contains an invalid escape: half of a surrogate pair")
	}
	return n, false, false
}

// whole reads a text that contains one value and nothing else.
func (r *state) whole(src source, s *Schema) (node, bool) {
	if n, done, ok := r.json(src); done {
		return n, ok
	}
	d := r.descend(src)
	if !d.space() {
		return node{}, false
	}
	n, ok := d.value(s)
	if !ok || !d.space() {
		return n, false
	}
	if d.pos < len(d.text) {
		return n, d.failAt("syntax", d.pos, "%s: unexpected text after the value", d.here())
	}
	d.unlike()
	return n, true
}
