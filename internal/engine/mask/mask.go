// Package mask hides secrets in text.
//
// A [Mask] gets the secret values of a run. It replaces each of them in text and in streams, also
// if it was encoded, escaped or quoted in one of the usual ways. It does not know where secrets
// come from or what the text is for.
package mask

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Replacement replaces every secret. It has a fixed length, so it does not reveal the length of the
// secret.
const Replacement = "***"

// MinSecret is the minimum length of a secret, in characters. Replacing shorter ones would ruin the
// text without hiding anything.
const MinSecret = 4

// ErrShortSecret means that a secret is too short to mask.
var ErrShortSecret = fmt.Errorf("it has fewer than %d characters, and masking it would make the output unreadable; use a longer value", MinSecret)

// Mask hides secrets in text. It finds each value as it is, in base64 (at any offset in a longer
// text, with any line breaks), URL-escaped, HTML-escaped, JSON-escaped up to three times, and quoted by
// Go, Python and shells (set -x prints every word quoted). If a secret has several lines, each line
// that is long enough is a secret of its own, because programs read keys line by line. If matches
// overlap, all of them are hidden.
//
// The zero Mask hides nothing. Safe for concurrent use; a Writer hides only what was added before
// it was made.
type Mask struct {
	mu     sync.Mutex
	values map[string]bool
	set    atomic.Pointer[patterns]
}

// Add makes values secret. Empty values are ignored. If a value has fewer than MinSecret
// characters, Add returns ErrShortSecret but still adds the others.
func (m *Mask) Add(values ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var refused error
	grew := false
	for _, v := range addLines(values) {
		v = strings.TrimRight(v, "\r\n") // programs print a value from a file without its last newline
		switch {
		case v == "" || m.values[v]:
		case utf8.RuneCountInString(v) < MinSecret:
			refused = ErrShortSecret
		default:
			if m.values == nil {
				m.values = map[string]bool{}
			}
			m.values[v], grew = true, true
		}
	}
	if grew {
		m.set.Store(compile(m.values))
	}
	return refused
}

// A line of a secret is hidden on its own if it has at least minLine characters. A secret with more
// than maxLines lines is a document: its lines occur in many other texts.
const (
	minLine  = 8
	maxLines = 200
)

// addLines adds the lines of values with several lines.
func addLines(values []string) []string {
	out := values
	for _, v := range values {
		lines := strings.Split(strings.TrimRight(v, "\r\n"), "\n")
		if len(lines) == 1 || len(lines) > maxLines {
			continue
		}
		for _, line := range lines {
			if line = strings.TrimSpace(line); utf8.RuneCountInString(line) >= minLine {
				out = append(out[:len(out):len(out)], line)
			}
		}
	}
	return out
}

// Empty reports whether there is nothing to hide.
func (m *Mask) Empty() bool { return m.set.Load() == nil }

// String returns s with all secrets hidden.
func (m *Mask) String(s string) string {
	p := m.set.Load()
	if p == nil || !p.matchesAny(s) {
		return s
	}
	var b bytes.Buffer
	w := &Writer{to: &b, set: p}
	w.Write([]byte(s)) // writing to a Buffer cannot fail
	w.Flush()
	return b.String()
}

// Holds reports whether the text read from r contains a secret.
func (m *Mask) Holds(r io.Reader) (bool, error) {
	if m.Empty() {
		return false, nil
	}
	before, after := sha256.New(), sha256.New()
	w := m.Writer(after)
	_, err := io.Copy(io.MultiWriter(before, w), r)
	if err = errors.Join(err, w.Flush()); err != nil {
		return false, err
	}
	return !bytes.Equal(before.Sum(nil), after.Sum(nil)), nil
}

// Writer returns a Writer that hides secrets and writes the result to w.
func (m *Mask) Writer(w io.Writer) *Writer { return &Writer{to: w, set: m.set.Load()} }

// patterns are the texts to hide, by first byte, longest first.
type patterns struct {
	byFirstByte [256][]form
	once        sync.Once
	scanner     *scanner // nil until a text is long
}

// compile collects the forms of all values.
func compile(values map[string]bool) *patterns {
	p := &patterns{}
	known := map[form]bool{}
	for v := range values {
		for _, f := range forms(v) {
			if !known[f] {
				known[f] = true
				p.byFirstByte[f.text[0]] = append(p.byFirstByte[f.text[0]], f)
			}
		}
	}
	for i := range p.byFirstByte {
		slices.SortFunc(p.byFirstByte[i], func(a, b form) int { return len(b.text) - len(a.text) })
	}
	return p
}

// matchesAny reports whether s contains a secret. Most texts contain none.
func (p *patterns) matchesAny(s string) bool {
	data := []byte(s)
	for i := range data {
		if p.matchFinal(data[i:]) > 0 {
			return true
		}
	}
	return false
}

// match returns the length of the secret at the start of data, or 0. sure is false if data ends
// before it is clear whether a longer one matches.
func (p *patterns) match(data []byte) (n int, sure bool) {
	list := p.byFirstByte[data[0]]
	for i := range list {
		f := &list[i]
		if f.cannotMatch(data) {
			continue
		}
		if n, ended := f.match(data); n > 0 || ended {
			return n, !ended
		}
	}
	return 0, true
}

// Writer hides secrets in a stream, even if one is split between writes: it holds back what may be
// the start of a secret until the next Write or Flush. Not safe for concurrent use.
type Writer struct {
	to      io.Writer
	set     *patterns // nil: nothing to hide
	held    []byte
	out     []byte
	covered int  // bytes at the start of held that a found secret covers
	masked  bool // something was hidden
}

// Masked reports whether anything was hidden so far.
func (w *Writer) Masked() bool { return w.masked }

// Write hides secrets in p and writes all but the end that may be the start of a secret.
func (w *Writer) Write(p []byte) (int, error) {
	if w.set == nil {
		return w.to.Write(p)
	}
	data := p
	if len(w.held) > 0 {
		w.held = append(w.held, p...)
		data = w.held
	}
	rest, err := w.mask(data, false)
	w.held = append(w.held[:0], rest...)
	return len(p), err
}

// WithoutPartial returns text, the start of a longer one, without the start of a secret at its end.
func (w *Writer) WithoutPartial(text []byte) []byte {
	seen := &Writer{to: io.Discard, set: w.set}
	seen.Write(text) // writing to Discard cannot fail
	return text[:len(text)-len(seen.held)]
}

// Flush writes what was held back. Call it at the end of the stream.
func (w *Writer) Flush() error {
	if len(w.held) == 0 {
		return nil
	}
	_, err := w.mask(w.held, true)
	w.held = w.held[:0]
	return err
}

// mask writes data with its secrets hidden and returns the end that is undecided. A found secret
// covers bytes; another one that starts among them may extend the covered part.
func (w *Writer) mask(data []byte, final bool) (rest []byte, err error) {
	out, i := w.out[:0], 0
	for c := w.set.candidates(data); ; i++ {
		if i = c.next(i); i == len(data) {
			break
		}
		n, sure := w.set.match(data[i:])
		if !sure && final {
			n, sure = w.set.matchFinal(data[i:]), true
		}
		if !sure {
			break
		}
		if n > 0 && w.covered <= i {
			out = append(append(out, data[w.covered:i]...), Replacement...)
			w.masked = true
		}
		if n > 0 {
			w.covered = max(w.covered, i+n)
		}
	}
	end := data[min(w.covered, i):i]
	w.covered = max(w.covered-i, 0)
	if len(out) > 0 {
		out = append(out, end...)
		w.out, end = out, out
	}
	if len(end) > 0 {
		_, err = w.to.Write(end)
	}
	return data[i:], err
}

// matchFinal is match for the end of the stream: it returns the length of the longest secret at the
// start of data, or 0.
func (p *patterns) matchFinal(data []byte) int {
	for _, f := range p.byFirstByte[data[0]] {
		if n, _ := f.match(data); n > 0 {
			return n
		}
	}
	return 0
}
