package console

import (
	"bytes"
	"io"
	"regexp"
	"sync"
	"unicode/utf8"
)

// longestLine is how many bytes of a line without end are held back before they
// are written as a line of their own.
const longestLine = 64 << 10

// widestPrefix bounds the width to which step names are padded. Longer names
// stand as they are.
const widestPrefix = 30

// stepColors are given to steps in turn.
var stepColors = []string{cyan, yellow, green, "\x1b[35m", "\x1b[34m", red}

// PrefixOptions say how a Prefixer writes. The zero PrefixOptions suit a pipe.
type PrefixOptions struct {
	// Color gives each step's prefix a colour.
	Color bool
	// Terminal says that people look at the lines: control sequences in them are
	// made harmless. Otherwise lines pass as the raw bytes they are.
	Terminal bool
}

// Prefixer joins the output of several steps to one stream of whole lines, each
// behind the name of its step: "build | compiling". It is safe for concurrent use.
type Prefixer struct {
	o PrefixOptions

	mu    sync.Mutex
	w     io.Writer
	width int
	steps map[string]*prefixed
	order []*prefixed // in which they came up
	err   error       // the writer's first
}

// prefixed is the stream of one step.
type prefixed struct {
	p       *Prefixer
	name    string
	color   string
	prefix  []byte // as it was last written, for names of width columns
	width   int
	partial []byte // the line that has no end yet
}

// NewPrefixer makes a Prefixer that writes to w. names are steps that are going to
// write, so that prefixes have one width from the start; others may come up later.
func NewPrefixer(w io.Writer, names []string, o PrefixOptions) *Prefixer {
	p := &Prefixer{o: o, w: w, steps: map[string]*prefixed{}}
	for _, name := range names {
		p.widen(Clean(name))
	}
	return p
}

func (p *Prefixer) widen(name string) {
	if n := columns(name); n <= widestPrefix {
		p.width = max(p.width, n)
	}
}

// Step is a writer for the output of one step; asked again, the same one. A line
// is passed on when it is complete. Once the underlying writer has failed, Write
// returns its error and passes on nothing.
func (p *Prefixer) Step(name string) io.Writer {
	name = Clean(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.steps[name]; s != nil {
		return s
	}
	s := &prefixed{p: p, name: name}
	if p.o.Color {
		s.color = stepColors[len(p.order)%len(stepColors)]
	}
	p.widen(name)
	p.steps[name], p.order = s, append(p.order, s)
	return s
}

// Flush writes the lines that have no end yet, each with one. The error is the
// first of the underlying writer.
func (p *Prefixer) Flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.order {
		if len(s.partial) > 0 {
			p.write(s.take(nil, len(s.partial)))
		}
	}
	return p.err
}

// write keeps the first error and returns it every time.
func (p *Prefixer) write(out []byte) error {
	if p.err == nil && len(out) > 0 {
		_, p.err = p.w.Write(out)
	}
	return p.err
}

// Write passes on the lines that b completes.
func (s *prefixed) Write(b []byte) (int, error) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	var out []byte
	for rest := b; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte{'\n'})
		room := longestLine - len(s.partial)
		over := len(part) > room
		if over {
			part, after, ended = part[:room], rest[room:], false
		}
		s.partial = append(s.partial, part...)
		rest = after
		switch {
		case ended:
			out = s.take(out, len(s.partial))
		case over:
			out = s.take(out, wholeRunes(s.partial))
		}
		if len(out) >= longestLine {
			s.p.write(out)
			out = out[:0]
		}
	}
	if err := s.p.write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// take makes a line of the first n bytes held back.
func (s *prefixed) take(out []byte, n int) []byte {
	out = s.line(out, s.partial[:n])
	s.partial = append(s.partial[:0], s.partial[n:]...)
	return out
}

// wholeRunes is how many bytes of b end where a character does.
func wholeRunes(b []byte) int {
	for n := len(b) - 1; n >= 0 && n >= len(b)-utf8.UTFMax; n-- {
		if utf8.RuneStart(b[n]) && !utf8.FullRune(b[n:]) {
			return n
		}
	}
	return len(b)
}

// colorSequences are the escape sequences that only colour text.
var colorSequences = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;:]*m") })

// line adds one line with its prefix.
func (s *prefixed) line(out, text []byte) []byte {
	if s.prefix == nil || s.width != s.p.width {
		s.prefix, s.width = s.newPrefix(), s.p.width
	}
	if s.p.o.Terminal {
		text = bytes.TrimSuffix(text, []byte{'\r'})
		text = []byte(Sanitize(string(text)))
	}
	out = append(out, s.prefix...)
	out = append(out, text...)
	return append(out, '\n')
}

func (s *prefixed) newPrefix() []byte {
	name := pad(s.name, s.p.width)
	if s.color != "" {
		name = s.color + name + reset
	}
	return []byte(name + " | ")
}
