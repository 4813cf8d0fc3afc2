// Package report collects what is found while one input is read: the path of the current value, the repairs, the
// conversions, and the first refusal.
//
// All readers of an input share one Report. Only the first refusal counts, so a reader returns false after it and its
// callers return false too. A Refusal shows an example of a valid call, and its JSON form has at most 2 KB.
package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// Repair is one deviation from JSON (Result.Repairs), or from the declared type of a value (Result.Coercions).
type Repair struct {
	Kind   string `json:"kind"`
	Path   string `json:"path"`   // opts[0].name; "" for the whole text
	Offset int    `json:"offset"` // of its start in the input, in bytes
}

// Report is what is known about one call while it is read: what is declared for it, the path of the current value, the
// repairs, and the refusal.
type Report struct {
	schema.Call
	path      []step
	Repairs   []Repair
	Coercions []Repair
	Repaired  bool // the text was not a JSON object with the parameters
	Bad       *Refusal
}

// step is one part of a path.
type step struct {
	name string
	item int // -1 for a name
}

const (
	maxRepairs = 100 // that are reported; a text with more of them is repaired too
	maxPath    = 120 // bytes of a path
)

// Fail refuses the text. Only the first refusal counts. It returns false.
func (r *Report) Fail(code string, off int, format string, args ...any) bool {
	if r.Bad == nil {
		r.Bad = &Refusal{Code: code, Offset: off, Message: fmt.Sprintf(format, args...)}
	}
	return false
}

// Enter makes a member the current value.
func (r *Report) Enter(name string) { r.path = append(r.path, step{name, -1}) }

// EnterItem makes an item of an array the current value.
func (r *Report) EnterItem(i int) { r.path = append(r.path, step{"", i}) }

// Leave returns to the value around the current one.
func (r *Report) Leave() { r.path = r.path[:len(r.path)-1] }

// Rename replaces the name of the current value.
func (r *Report) Rename(name string) { r.path[len(r.path)-1].name = name }

// InItem reports whether the current value is an item of an array.
func (r *Report) InItem() bool { return len(r.path) > 0 && r.path[len(r.path)-1].item >= 0 }

// where returns the path of the current value.
func (r *Report) where() string {
	var b []byte
	for _, s := range r.path {
		if s.item >= 0 {
			b = append(strconv.AppendInt(append(b, '['), int64(s.item), 10), ']')
			continue
		}
		if len(b) > 0 {
			b = append(b, '.')
		}
		b = append(b, Clip(s.name, 60)...)
		if len(b) > maxPath {
			break
		}
	}
	return Clip(string(b), maxPath)
}

// Here returns the path of the current value for a message.
func (r *Report) Here() string {
	if p := r.where(); p != "" {
		return p
	}
	return "the call"
}

// AddRepair records a repair of the text.
func (r *Report) AddRepair(kind string, off int32) {
	r.Repaired = true
	r.note(&r.Repairs, kind, off)
}

// Coerced records that a value had another type, or a name another spelling.
func (r *Report) Coerced(kind string, off int32) bool {
	r.note(&r.Coercions, kind, off)
	return true
}

func (r *Report) note(list *[]Repair, kind string, off int32) {
	if len(*list) < maxRepairs {
		*list = append(*list, Repair{kind, r.where(), int(off)})
	}
}

// Clip shortens a text to at most n bytes, at a character boundary.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:max(n, 0)] + "…"
}

// Calls reports whether a name is that of the called tool. Otherwise it refuses the text.
func (r *Report) Calls(name string, off int) bool {
	if r.Tool == "" || schema.SameTool(name, r.Tool) {
		return true
	}
	return r.Fail("wrong-tool", off, "this calls %s, not %s", Quote(name), Quote(r.Tool))
}

// Quote quotes a text for a message, shortened.
func Quote(s string) string { return strconv.Quote(Clip(s, 60)) }

// List quotes names for a message, at most eight of them.
func List(names []string) string {
	var quoted []string
	for _, n := range names[:min(len(names), 8)] {
		quoted = append(quoted, Quote(n))
	}
	if len(names) > 8 {
		quoted = append(quoted, "and more")
	}
	return strings.Join(quoted, ", ")
}
