package argparse

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// state is the state of one call of Parse.
type state struct {
	root    *Schema
	tool    string
	indexes map[*Schema]*index

	shelf     *nodeStack
	path      []step
	repairs   []Repair
	coercions []Repair
	repaired  bool // the text was not a JSON object with the parameters
	bad       *Refusal

	// budget is the number of characters that lookahead may still visit. It keeps the cost
	// linear in the length of the input, however searches are nested.
	budget int
}

// step is one part of a path.
type step struct {
	name string
	item int // -1 for a name
}

const (
	maxRepairs = 100 // that are reported; a text with more of them is repaired too
	maxPath    = 120 // bytes of a path
	maxString  = 3   // levels of JSON in a string
)

func newState(s *Schema, tool string, size int) *state {
	return &state{root: s, tool: tool, shelf: new(nodeStack), budget: 32*size + 4096}
}

// fail refuses the text. Only the first refusal counts. It returns false.
func (r *state) fail(code string, off int, format string, args ...any) bool {
	if r.bad == nil {
		r.bad = &Refusal{Code: code, Offset: off, Message: fmt.Sprintf(format, args...)}
	}
	return false
}

// spend subtracts n from the budget, and refuses the text if the budget is exhausted.
func (r *state) spend(n int, off int) bool {
	r.budget -= n
	return r.budget >= 0 || r.fail("ambiguous", off, "the text has too many possible readings")
}

func (r *state) enter(name string) { r.path = append(r.path, step{name, -1}) }
func (r *state) enterItem(i int)   { r.path = append(r.path, step{"", i}) }
func (r *state) leave()            { r.path = r.path[:len(r.path)-1] }

// where returns the path of the current value.
func (r *state) where() string {
	var b []byte
	for _, s := range r.path {
		if s.item >= 0 {
			b = append(strconv.AppendInt(append(b, '['), int64(s.item), 10), ']')
			continue
		}
		if len(b) > 0 {
			b = append(b, '.')
		}
		b = append(b, clip(s.name, 60)...)
		if len(b) > maxPath {
			break
		}
	}
	return clip(string(b), maxPath)
}

// here returns the path of the current value for a message.
func (r *state) here() string {
	if p := r.where(); p != "" {
		return p
	}
	return "the call"
}

// addRepair records a repair of the text.
func (r *state) addRepair(kind string, off int32) {
	r.repaired = true
	if len(r.repairs) < maxRepairs {
		r.repairs = append(r.repairs, Repair{kind, r.where(), int(off)})
	}
}

// coerced records that a value had another type, or a name another spelling.
func (r *state) coerced(kind string, off int32) bool {
	if len(r.coercions) < maxRepairs {
		r.coercions = append(r.coercions, Repair{kind, r.where(), int(off)})
	}
	return true
}

// clip shortens a text to at most n bytes, at a character boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:max(n, 0)] + "…"
}
