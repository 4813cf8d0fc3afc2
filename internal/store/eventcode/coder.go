package eventcode

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// coder writes values to b, or reads them from b. Each method does both, so that the two cannot
// differ. Only reading changes the values.
type coder struct {
	b       []byte // what was written, or what is left to read
	reading bool
	damaged bool // the text to read is not one that was written

	run string // id of the run, which is not written
	seq uint64 // number of the event before
	at  int64  // last time, in ns since 1970
}

// words are written as their number, which counts from 1. Add new ones at the end.
var words = []string{
	"step.started", "step.finished", "succeeded", "failed", "skipped", "exit", "condition", "upstream-failed",
	"run.started", "run.cancelling", "run.finished", "run.resumed", "step.expanded", "step.retrying", "step.waiting", "step.fallback",
	"pending", "running", "retrying", "waiting", "reused", "cancelled", "timed-out", "interrupted",
	"timeout", "forced", "fail-fast", "input", "panic", "not-started", "items", "repeat",
}

// fail marks the text as damaged and ends it.
func (c *coder) fail() { c.damaged, c.b = true, nil }

// number codes an integer. Small ones, also negative ones, take a byte.
func number[T ~int | ~int32 | ~int64](c *coder, n *T) {
	if !c.reading {
		c.b = binary.AppendVarint(c.b, int64(*n))
		return
	}
	v, size := binary.Varint(c.b)
	if size <= 0 {
		c.fail()
		return
	}
	*n, c.b = T(v), c.b[size:]
}

// size reads a number of things that each take at least a byte.
func (c *coder) size() (n int) {
	if number(c, &n); n < 0 || n > len(c.b) {
		c.fail()
		return 0
	}
	return n
}

// flags codes up to eight truth values in a byte.
func (c *coder) flags(list ...*bool) {
	var bits byte
	if c.reading {
		if len(c.b) == 0 {
			c.fail()
			return
		}
		bits, c.b = c.b[0], c.b[1:]
	}
	for i, f := range list {
		if c.reading {
			*f = bits&(1<<i) != 0
		} else if *f {
			bits |= 1 << i
		}
	}
	if !c.reading {
		c.b = append(c.b, bits)
	}
}

func (c *coder) text(s *string) {
	if !c.reading {
		c.b = append(binary.AppendVarint(c.b, int64(len(*s))), *s...)
		return
	}
	n := c.size()
	*s, c.b = string(c.b[:n]), c.b[n:]
}

func texts[T ~string](c *coder, list *[]T) {
	n := len(*list)
	if c.reading {
		if n = c.size(); n > 0 {
			*list = make([]T, n)
		}
	} else {
		number(c, &n)
	}
	for i := range n {
		s := string((*list)[i])
		if c.text(&s); c.reading {
			(*list)[i] = T(s)
		}
	}
}

// word codes a text that is often one of words.
func (c *coder) word(s *string) {
	n := slices.Index(words, *s) + 1
	switch number(c, &n); {
	case n == 0:
		c.text(s)
	case n < 0 || n > len(words):
		c.fail()
	case c.reading:
		*s = words[n-1]
	}
}

func (c *coder) status(s *dag.Status) {
	name := s.String()
	if c.word(&name); c.reading && !c.damaged && s.UnmarshalText([]byte(name)) != nil {
		c.fail()
	}
}

// next codes the number of an event, which mostly is the next one.
func (c *coder) next(seq *uint64) {
	distance := int64(*seq - c.seq)
	number(c, &distance)
	if c.seq += uint64(distance); c.reading {
		*seq = c.seq
	}
}

// clock codes a time that is near the one before, or zero. It is in UTC when it is read.
func (c *coder) clock(t *time.Time) {
	distance := int64(0)
	if !t.IsZero() {
		if distance = t.UnixNano() - c.at; distance >= 0 {
			distance++ // 0 is the zero time
		}
	}
	if number(c, &distance); distance == 0 {
		return
	}
	if distance > 0 {
		distance--
	}
	if c.at += distance; c.reading {
		*t = time.Unix(0, c.at).UTC()
	}
}

// date codes a time that may be far away.
func (c *coder) date(t *time.Time) {
	var text string
	if !c.reading && !t.IsZero() {
		b, _ := t.MarshalBinary() // cannot fail: the zones of Go are whole seconds
		text = string(b)
	}
	if c.text(&text); c.reading && text != "" && t.UnmarshalBinary([]byte(text)) != nil {
		c.fail()
	}
}

// target returns what a pointer points to. When reading, it is new.
func target[T any](c *coder, p **T) *T {
	if c.reading {
		*p = new(T)
	}
	return *p
}
