package console

import (
	"bytes"
	"io"
	"regexp"
	"sync"
	"unicode/utf8"
)

// maxLine is how many bytes of an unfinished line are held back before they are written as a
// line of their own.
const maxLine = 64 << 10

// maxPrefixWidth limits the width to which step names are padded. Longer names are not cut.
const maxPrefixWidth = 30

// stepColors are the colors of prefixes, used in turn.
var stepColors = []string{cyan, yellow, green, "\x1b[35m", "\x1b[34m", red}

// PrefixOptions configure a Prefixer. The zero PrefixOptions are right for a pipe.
type PrefixOptions struct {
	// Color colors the prefix of each step.
	Color bool
	// Terminal removes control sequences from the lines, because people read them on a terminal.
	// Otherwise lines are written unchanged.
	Terminal bool
}

// Prefixer joins the output of several steps into one stream of whole lines, each with the name
// of its step as prefix: "build | compiling". Safe for concurrent use.
type Prefixer struct {
	o PrefixOptions

	mu    sync.Mutex
	w     io.Writer
	width int
	steps map[string]*stepWriter
	order []*stepWriter // in the order of the first call of Step
	err   error         // the first error of the writer
}

// stepWriter is the stream of one step.
type stepWriter struct {
	p       *Prefixer
	name    string
	color   string
	prefix  []byte // cached for names of width columns
	width   int
	partial []byte // the unfinished line
}

// NewPrefixer returns a Prefixer that writes to w. names are the steps that are expected to
// write, so that all prefixes have the same width from the start. Other steps may write too.
func NewPrefixer(w io.Writer, names []string, o PrefixOptions) *Prefixer {
	p := &Prefixer{o: o, w: w, steps: map[string]*stepWriter{}}
	for _, name := range names {
		p.widen(Clean(name))
	}
	return p
}

func (p *Prefixer) widen(name string) {
	if n := columns(name); n <= maxPrefixWidth {
		p.width = max(p.width, n)
	}
}

// Step returns the writer for the output of one step; it is the same one for every call. A line
// is written when it is complete. After the underlying writer has failed, Write returns its
// error and writes nothing.
func (p *Prefixer) Step(name string) io.Writer {
	name = Clean(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.steps[name]; s != nil {
		return s
	}
	s := &stepWriter{p: p, name: name}
	if p.o.Color {
		s.color = stepColors[len(p.order)%len(stepColors)]
	}
	p.widen(name)
	p.steps[name], p.order = s, append(p.order, s)
	return s
}

// Flush ends and writes the unfinished lines. It returns the first error of the underlying
// writer.
func (p *Prefixer) Flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.order {
		if len(s.partial) > 0 {
			p.write(s.endLine(nil, len(s.partial)))
		}
	}
	return p.err
}

// write writes out. It keeps the first error and returns it for every later call.
func (p *Prefixer) write(out []byte) error {
	if p.err == nil && len(out) > 0 {
		_, p.err = p.w.Write(out)
	}
	return p.err
}

// Write writes the lines that b completes.
func (s *stepWriter) Write(b []byte) (int, error) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	var out []byte
	for rest := b; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte{'\n'})
		room := maxLine - len(s.partial)
		over := len(part) > room
		if over {
			part, after, ended = part[:room], rest[room:], false
		}
		s.partial = append(s.partial, part...)
		rest = after
		switch {
		case ended:
			out = s.endLine(out, len(s.partial))
		case over:
			out = s.endLine(out, wholeRunes(s.partial))
		}
		if len(out) >= maxLine {
			s.p.write(out)
			out = out[:0]
		}
	}
	if err := s.p.write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// endLine moves the first n bytes that were held back to out as a line.
func (s *stepWriter) endLine(out []byte, n int) []byte {
	out = s.line(out, s.partial[:n])
	s.partial = append(s.partial[:0], s.partial[n:]...)
	return out
}

// wholeRunes returns the length of b without an incomplete character at its end.
func wholeRunes(b []byte) int {
	for n := len(b) - 1; n >= 0 && n >= len(b)-utf8.UTFMax; n-- {
		if utf8.RuneStart(b[n]) && !utf8.FullRune(b[n:]) {
			return n
		}
	}
	return len(b)
}

// colorSequences matches escape sequences that only set colors and styles.
var colorSequences = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;:]*m") })

// line appends one line with its prefix.
func (s *stepWriter) line(out, text []byte) []byte {
	if s.prefix == nil || s.width != s.p.width {
		s.prefix, s.width = s.newPrefix(), s.p.width
	}
	if s.p.o.Terminal {
		text = []byte(OutputLine(string(text)))
	}
	out = append(out, s.prefix...)
	out = append(out, text...)
	return append(out, '\n')
}

func (s *stepWriter) newPrefix() []byte {
	name := pad(s.name, s.p.width)
	if s.color != "" {
		name = s.color + name + reset
	}
	return []byte(name + " | ")
}
