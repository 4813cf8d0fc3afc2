// Package mask hides secrets in text.
//
// A [Mask] is given the secret values of a run. It replaces each of them, in text and in
// streams, also where it was encoded, escaped or quoted in one of the usual ways. It does
// not know where secrets come from, nor what the text is for.
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

// Replacement is what stands in place of a secret. It is fixed, so that a
// secret's length does not show.
const Replacement = "***"

// MinSecret is the fewest characters a secret must have: replacing shorter ones
// would ruin any text without hiding anything.
const MinSecret = 4

// ErrShortSecret says that a secret is too short to mask.
var ErrShortSecret = fmt.Errorf("it has fewer than %d characters, and hiding those would ruin any text: use a longer one", MinSecret)

// Mask hides secrets in text: each value as it is, in base64 (wherever in
// a longer text it was encoded, and however that is cut into lines), URL-escaped,
// HTML-escaped, JSON-escaped once or twice, and quoted as Go, Python and shells quote it (set -x prints every word
// that way). Of a secret with several lines, each line that is long enough to mean something is a secret too: programs
// read keys line by line. Where found places overlap, all of them are hidden. The zero Mask hides nothing. It is safe for
// concurrent use; a writer hides what was added before it was made.
type Mask struct {
	mu     sync.Mutex
	values map[string]bool
	set    atomic.Pointer[patterns]
}

// Add makes values secret. Empty values hide nothing and are ignored; a value of
// fewer than MinSecret characters is refused with ErrShortSecret, the others are
// still added.
func (m *Mask) Add(values ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var refused error
	grew := false
	for _, v := range addLines(values) {
		v = strings.TrimRight(v, "\r\n") // a value read from a file is printed without its last newline
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

// A line of a secret is hidden by itself from minLine characters on. A secret of
// more than mostLines lines is a document, in which lines are what many texts share.
const (
	minLine  = 8
	maxLines = 200
)

// addLines adds the lines of values that have several.
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

// Empty says whether there is nothing to hide.
func (m *Mask) Empty() bool { return m.set.Load() == nil }

// String hides the secrets in s.
func (m *Mask) String(s string) string {
	p := m.set.Load()
	if p == nil || !p.matchesAny(s) {
		return s
	}
	var b bytes.Buffer
	w := &Writer{to: &b, set: p}
	w.Write([]byte(s)) // a Buffer does not fail
	w.Flush()
	return b.String()
}

// Holds says whether what r reads has a secret in it.
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

// Writer hides secrets in what is written through it to w.
func (m *Mask) Writer(w io.Writer) *Writer { return &Writer{to: w, set: m.set.Load()} }

// patterns are the byte strings to hide, by first byte, longest first.
type patterns struct {
	byFirstByte [256][]form
}

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

// matchesAny is a quick no for most text.
func (p *patterns) matchesAny(s string) bool {
	data := []byte(s)
	for i := range data {
		if p.matchFinal(data[i:]) > 0 {
			return true
		}
	}
	return false
}

// match says how long the secret at the start of data is, 0 for none. sure is false
// when data ends before a longer one could be told from chance.
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

// Writer hides secrets in a stream, also where one is split between writes:
// what may be the beginning of a secret is held back until more comes, or Flush.
// It is for one goroutine.
type Writer struct {
	to      io.Writer
	set     *patterns // nil hides nothing
	held    []byte
	out     []byte
	covered int  // bytes at the front of held that a found secret covers
	masked  bool // something was hidden
}

// Masked says whether anything was hidden so far.
func (w *Writer) Masked() bool { return w.masked }

// Write hides secrets in p and writes what is decided.
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

// Flush writes what was held back. The stream has ended.
func (w *Writer) Flush() error {
	if len(w.held) == 0 {
		return nil
	}
	_, err := w.mask(w.held, true)
	w.held = w.held[:0]
	return err
}

// mask goes through data and returns what is undecided. A found secret covers
// bytes; another that begins among them may cover more.
func (w *Writer) mask(data []byte, final bool) (rest []byte, err error) {
	out, from, i := w.out[:0], 0, 0
	for ; i < len(data); i++ {
		if len(w.set.byFirstByte[data[i]]) > 0 {
			n, sure := w.set.match(data[i:])
			if !sure && final {
				n, sure = w.set.matchFinal(data[i:]), true
			}
			if !sure {
				break
			}
			if n > 0 && w.covered <= i {
				out = append(append(out, data[from:i]...), Replacement...)
				w.masked = true
			}
			if n > 0 {
				w.covered = max(w.covered, i+n)
			}
		}
		if i < w.covered {
			from = i + 1
		}
	}
	out = append(out, data[min(from, i):i]...)
	w.covered = max(w.covered-i, 0)
	w.out = out
	if len(out) > 0 {
		_, err = w.to.Write(out)
	}
	return data[i:], err
}

// matchFinal is the secret at the start of data when no more comes.
func (p *patterns) matchFinal(data []byte) int {
	for _, f := range p.byFirstByte[data[0]] {
		if n, _ := f.match(data); n > 0 {
			return n
		}
	}
	return 0
}
