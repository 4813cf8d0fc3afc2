package sshcommand

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
)

// Trailer passes on what a script writes to stderr, and keeps the trailer of the supervisor. It is an io.Writer. Not safe
// for concurrent use, except for Started.
type Trailer struct {
	to    io.Writer
	mark  []byte
	held  []byte // the end of the text so far, which may be the beginning of the mark
	found bool

	started atomic.Bool
	rest    []byte // what follows the mark
}

// NewTrailer returns a Trailer that begins with a mark.
func NewTrailer(mark string, to io.Writer) *Trailer { return &Trailer{to: to, mark: []byte(mark)} }

// maxTrailer limits what is kept: the first line and two files.
const maxTrailer = 2<<20 + 4096

func (t *Trailer) Write(b []byte) (int, error) {
	if t.found {
		t.keep(b)
		return len(b), nil
	}
	t.held = append(t.held, b...)
	for {
		i := bytes.Index(t.held, t.mark)
		if i < 0 || len(t.held) == i+len(t.mark) {
			break
		}
		text, rest := t.held[:i], t.held[i+len(t.mark):]
		_, err := t.to.Write(text)
		if rest[0] != startSign {
			t.found, t.held = true, nil
			t.keep(rest)
			return len(b), err
		}
		t.started.Store(true)
		if t.held = rest[1:]; err != nil {
			return len(b), err
		}
	}
	n := len(t.held) - partial(t.held, t.mark)
	if n == 0 {
		return len(b), nil
	}
	_, err := t.to.Write(t.held[:n])
	t.held = append([]byte(nil), t.held[n:]...)
	return len(b), err
}

// startSign follows the mark when the supervisor has begun. In the trailer a space follows it.
const startSign = '+'

// Started reports whether the supervisor has begun. Safe for concurrent use.
func (t *Trailer) Started() bool { return t.started.Load() }

func (t *Trailer) keep(b []byte) {
	t.rest = append(t.rest, b[:min(len(b), maxTrailer-len(t.rest))]...)
}

// partial returns how many bytes at the end of text are the beginning of mark.
func partial(text, mark []byte) int {
	for n := min(len(text), len(mark)); n > 0; n-- {
		if bytes.HasSuffix(text, mark[:n]) {
			return n
		}
	}
	return 0
}

// Close passes on what was held back.
func (t *Trailer) Close() error {
	_, err := t.to.Write(t.held)
	t.held = nil
	return err
}

// Report is what the supervisor says at the end.
type Report struct {
	Code          int    // exit code of the script
	Output, State []byte // nil: the script has removed or replaced the file
}

// Report returns what the trailer says. ok is false if there is none, or only a part of it.
func (t *Trailer) Report() (r Report, ok bool) {
	line, rest, whole := bytes.Cut(t.rest, []byte("\n"))
	words := strings.Fields(string(line))
	if !whole || len(words) != 3 {
		return r, false
	}
	code, err := strconv.ParseUint(words[0], 10, 8)
	if err != nil {
		return r, false
	}
	r.Code = int(code)
	for i, to := range []*[]byte{&r.Output, &r.State} {
		if words[i+1] == "missing" {
			continue
		}
		n, err := strconv.ParseUint(words[i+1], 10, 31)
		if err != nil || int(n) > len(rest) {
			return Report{}, false
		}
		*to, rest = append([]byte{}, rest[:n]...), rest[n:]
	}
	return r, true
}
