package argparse

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Report is what is known about one call while it is read: what is declared for it, the path of
// the current value, the repairs, and the refusal.
type Report struct {
	*Call
	path      []step
	repairs   []Repair
	coercions []Repair
	repaired  bool // the text was not a JSON object with the parameters
	bad       *Refusal
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

// fail refuses the text. Only the first refusal counts. It returns false.
func (r *Report) fail(code string, off int, format string, args ...any) bool {
	if r.bad == nil {
		r.bad = &Refusal{Code: code, Offset: off, Message: fmt.Sprintf(format, args...)}
	}
	return false
}

func (r *Report) enter(name string) { r.path = append(r.path, step{name, -1}) }
func (r *Report) enterItem(i int)   { r.path = append(r.path, step{"", i}) }
func (r *Report) leave()            { r.path = r.path[:len(r.path)-1] }

// rename replaces the name of the current value.
func (r *Report) rename(name string) { r.path[len(r.path)-1].name = name }

// inItem reports whether the current value is an item of an array.
func (r *Report) inItem() bool { return len(r.path) > 0 && r.path[len(r.path)-1].item >= 0 }

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
		b = append(b, clip(s.name, 60)...)
		if len(b) > maxPath {
			break
		}
	}
	return clip(string(b), maxPath)
}

// here returns the path of the current value for a message.
func (r *Report) here() string {
	if p := r.where(); p != "" {
		return p
	}
	return "the call"
}

// addRepair records a repair of the text.
func (r *Report) addRepair(kind string, off int32) {
	r.repaired = true
	if len(r.repairs) < maxRepairs {
		r.repairs = append(r.repairs, Repair{kind, r.where(), int(off)})
	}
}

// coerced records that a value had another type, or a name another spelling.
func (r *Report) coerced(kind string, off int32) bool {
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
