package keytable

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/duration"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Text reads a string. Values that YAML reads as numbers or booleans keep their text in the file, so that `version:
// 1.10` and `name: no` are read as the author meant them.
func (d *Decoder) Text(n *yaml.Node) (diagnostic.Text, bool) {
	n = Deref(n)
	switch {
	case IsPlaceholder(n):
		d.reportUnquoted(n)
		return diagnostic.Text{}, false
	case n.Kind != yaml.ScalarNode:
		d.WrongType(n, "text")
		return diagnostic.Text{}, false
	case n.ShortTag() == "!!null":
		d.Fail(n, "empty-value", "expected text, found nothing", `write "" for an empty text, or quote the word if it is meant as text`)
		return diagnostic.Text{}, false
	}
	d.warnNumber(n)
	return d.textOf(n), true
}

var (
	octalLooking = diagnostic.Pattern(`^[-+]?0(?:o?[0-7_]+)$`)
	exponentForm = diagnostic.Pattern(`^[-+]?[0-9][0-9_.]*[eE][-+]?[0-9]+$`)
)

// warnNumber warns if other YAML parsers would read a number that differs from the text in the file.
func (d *Decoder) warnNumber(n *yaml.Node) {
	if n.Tag != "!!int" && n.Tag != "!!float" {
		return
	}
	switch {
	case octalLooking().MatchString(n.Value):
		d.Warn(n, "number-as-text", fmt.Sprintf("%s is used as text, but other YAML parsers read it as an octal number", n.Value), fmt.Sprintf("quote it: %q", n.Value))
	case exponentForm().MatchString(n.Value):
		d.Warn(n, "number-as-text", fmt.Sprintf("%s is used as text, but other YAML parsers read it as a number with an exponent", n.Value), fmt.Sprintf("quote it: %q", n.Value))
	}
}

// textOf returns a scalar with the position of its first character.
func (d *Decoder) textOf(n *yaml.Node) diagnostic.Text {
	form := diagnostic.PlainForm
	switch {
	case d.repaired[n.Line]: // the file has the value without quotes
	case n.Style&yaml.SingleQuotedStyle != 0:
		form = diagnostic.SingleForm
	case n.Style&yaml.DoubleQuotedStyle != 0:
		form = diagnostic.DoubleForm
	case n.Style&yaml.LiteralStyle != 0:
		form = diagnostic.LiteralForm
	case n.Style&yaml.FoldedStyle != 0:
		form = diagnostic.FoldedForm
	}
	return d.Src.Scalar(n.Value, d.start(n), form)
}

// start returns the position of a scalar, after its anchor and tag.
func (d *Decoder) start(n *yaml.Node) diagnostic.Pos {
	if n.Anchor == "" && n.Style&yaml.TaggedStyle == 0 {
		return d.Pos(n)
	}
	from := d.offset(n.Line, n.Column)
	at, text := from, d.Src.Text
	for at < len(text) && (text[at] == '&' || text[at] == '!') {
		for at < len(text) && !diagnostic.IsBlank(text[at]) && diagnostic.BreakLen(text[at:]) == 0 {
			at++
		}
		at = skipSpace(text, at)
	}
	if skipped := text[from:at]; at < len(text) && !bytes.ContainsAny(skipped, "\r\n") {
		// Counted from the node and not from the start of the line, because a large file may have only one line.
		return diagnostic.Pos{File: d.Src.File, Line: n.Line, Col: n.Column + utf8.RuneCount(skipped)}
	}
	return d.Src.Pos(min(at, len(text)-1))
}

// skipSpace skips spaces, tabs, line breaks and comments.
func skipSpace(text []byte, at int) int {
	for at < len(text) {
		switch n := diagnostic.BreakLen(text[at:]); {
		case diagnostic.IsBlank(text[at]):
			at++
		case n > 0:
			at += n
		case text[at] == '#':
			for at < len(text) && diagnostic.BreakLen(text[at:]) == 0 {
				at++
			}
		default:
			return at
		}
	}
	return at
}

// offset is Source.Offset, but continues from the last requested position.
func (d *Decoder) offset(line, col int) int {
	if line == d.atLine && col >= d.atCol {
		d.atOffset = d.Src.Forward(d.atOffset, col-d.atCol)
	} else {
		d.atOffset = d.Src.Offset(line, col)
	}
	d.atLine, d.atCol = line, col
	return d.atOffset
}

func (d *Decoder) boolean(n *yaml.Node) (bool, bool) {
	n = Deref(n)
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool" {
		switch n.Value { // as the core schema of YAML 1.2 has them
		case "true", "True", "TRUE":
			return true, true
		case "false", "False", "FALSE":
			return false, true
		}
	}
	if IsPlaceholder(n) || n.Kind != yaml.ScalarNode {
		d.WrongType(n, "true or false")
		return false, false
	}
	hint := "write true or false"
	switch strings.ToLower(n.Value) {
	case "yes", "on", "y", "true", "1":
		hint = "write true, without quotes"
	case "no", "off", "n", "false", "0":
		hint = "write false, without quotes"
	}
	d.Fail(n, "wrong-type", "expected true or false, found "+Describe(n), hint)
	return false, false
}

var wholeNumber = diagnostic.Pattern(`^[-+]?[0-9][0-9_]*$`)

// integer reads a whole number as YAML defines it. It rejects numbers that do not fit in 64 bits, because yaml.v3 would
// round them.
func (d *Decoder) integer(n *yaml.Node) (int64, bool) {
	n = Deref(n)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" && !d.isBigInteger(n) {
		d.WrongType(n, "a whole number")
		return 0, false
	}
	v, err := strconv.ParseInt(strings.ReplaceAll(n.Value, "_", ""), 0, 64)
	if err != nil {
		d.Fail(n, "integer-range", fmt.Sprintf("the number %s does not fit in 64 bits and would be rounded", diagnostic.Printable(n.Value)), "if it is meant as text, quote it")
		return 0, false
	}
	if octalLooking().MatchString(n.Value) && !strings.Contains(n.Value, "o") && v > 7 {
		d.Warn(n, "octal-number", fmt.Sprintf("YAML reads %s as an octal number: %d", n.Value, v), "remove the leading zero, or write 0o for an octal number")
	}
	return v, true
}

// isBigInteger reports whether a node is a whole number so large that YAML made it a float.
func (d *Decoder) isBigInteger(n *yaml.Node) bool {
	return n.ShortTag() == "!!float" && wholeNumber().MatchString(n.Value)
}

func integerIn(low, high int64) func(*Decoder, *yaml.Node) (int, bool) {
	return func(d *Decoder, n *yaml.Node) (int, bool) {
		v, ok := d.integer(n)
		if ok && (v < low || v > high) {
			d.Fail(Deref(n), "out-of-range", fmt.Sprintf("the number %d is out of range", v), fmt.Sprintf("use a whole number from %d to %d", low, high))
			return 0, false
		}
		return int(v), ok
	}
}

func (d *Decoder) number(n *yaml.Node) (float64, bool) {
	n = Deref(n)
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!float" && !d.isBigInteger(n) {
		return d.float(n)
	}
	v, ok := d.integer(n)
	return float64(v), ok
}

func numberFrom(least float64) func(*Decoder, *yaml.Node) (float64, bool) {
	return func(d *Decoder, n *yaml.Node) (float64, bool) {
		v, ok := d.number(n)
		if ok && v < least {
			d.Fail(Deref(n), "out-of-range", fmt.Sprintf("the number %v is out of range", v), fmt.Sprintf("use a number from %v", least))
			return 0, false
		}
		return v, ok
	}
}

func (d *Decoder) float(n *yaml.Node) (float64, bool) {
	number, err := value.ParseNumber(n.Value)
	if err != nil {
		d.Fail(n, "out-of-range", fmt.Sprintf("invalid number %s", diagnostic.Printable(n.Value)), "use a finite number; JSON cannot represent infinity and NaN")
		return 0, false
	}
	return value.Number(number)
}

// MaxDuration is the maximum of all durations: a longer one is probably in the wrong unit.
const MaxDuration = 365 * 24 * time.Hour

// duration reads a duration: a whole number of milliseconds, or text with units from ns to w.
func (d *Decoder) duration(n *yaml.Node) (time.Duration, bool) {
	const hint = `write milliseconds (5000) or a text with units ("5s", "1m30s", "2h", "7d"), from 1 ms to 365 days (8760h)`
	n = Deref(n)
	if n.Kind != yaml.ScalarNode {
		d.WrongType(n, "a duration")
		return 0, false
	}
	var v time.Duration
	if ms, err := strconv.ParseInt(n.Value, 10, 64); err == nil && n.ShortTag() == "!!int" {
		v = time.Duration(min(max(ms, -1), int64(MaxDuration/time.Millisecond)+1)) * time.Millisecond
	} else if v, err = duration.Parse(n.Value); err != nil || n.ShortTag() != "!!str" {
		d.Fail(n, "bad-duration", fmt.Sprintf("invalid duration %s", diagnostic.Quote(n.Value)), hint)
		return 0, false
	}
	if v < time.Millisecond || v > MaxDuration {
		d.Fail(n, "bad-duration", fmt.Sprintf("the duration %s is out of range", diagnostic.Printable(n.Value)), hint)
		return 0, false
	}
	return v, true
}

var (
	sizeForm  = diagnostic.Pattern(`^([0-9]+) ?([A-Za-z]*)$`)
	sizeUnits = map[string]int64{
		"": 1, "B": 1,
		"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}
)

// size reads a number of bytes.
func (d *Decoder) size(n *yaml.Node) (int64, bool) {
	const hint = "write a whole number of bytes, or a number with a unit: KB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024)"
	n = Deref(n)
	if n.Kind != yaml.ScalarNode {
		d.WrongType(n, "a size")
		return 0, false
	}
	m := sizeForm().FindStringSubmatch(n.Value)
	if m == nil || sizeUnits[m[2]] == 0 {
		d.Fail(n, "bad-size", fmt.Sprintf("invalid size %s", diagnostic.Quote(n.Value)), hint)
		return 0, false
	}
	v, err := strconv.ParseInt(m[1], 10, 64)
	if unit := sizeUnits[m[2]]; err != nil || v == 0 || v > math.MaxInt64/unit {
		d.Fail(n, "bad-size", fmt.Sprintf("the size %s is out of range", diagnostic.Printable(n.Value)), hint)
		return 0, false
	}
	return v * sizeUnits[m[2]], true
}

// Value reads any value with its positions.
func (d *Decoder) Value(n *yaml.Node) (Value, bool) {
	n = Deref(n)
	v := Value{Pos: d.Pos(n)}
	ok := true
	switch {
	case IsPlaceholder(n):
		d.reportUnquoted(n)
		return v, false
	case n.Kind == yaml.SequenceNode:
		v.List, ok = d.values(n)
	case n.Kind == yaml.MappingNode:
		v.Map, ok = d.entries(n)
	default:
		d.scalar(n, &v)
	}
	return v, ok
}

// scalar reads a scalar. What YAML takes for a number, but no number can hold, is text, as in 08 and .inf.
func (d *Decoder) scalar(n *yaml.Node, v *Value) {
	v.written = n.Value
	switch tag := n.ShortTag(); {
	case tag == literalTag && d.Literals:
		v.Scalar = n.Value
		return
	case tag == "!!null":
		return
	case tag == "!!bool":
		v.Scalar = strings.EqualFold(n.Value, "true")
		return
	case tag == "!!int" || tag == "!!float":
		if number, err := value.ParseNumber(n.Value); err == nil {
			v.Scalar = number
			return
		}
	}
	t := d.textOf(n)
	v.Scalar, v.Text = t.S, &t
}

func (d *Decoder) values(n *yaml.Node) ([]Value, bool) {
	n = Deref(n)
	if n.Kind != yaml.SequenceNode {
		d.WrongType(n, "a list")
		return nil, false
	}
	return listOf((*Decoder).Value)(d, n)
}

func (d *Decoder) entries(n *yaml.Node) ([]Entry, bool) {
	return d.entriesOf(n, (*Decoder).Value)
}

// textEntries reads a mapping of names to texts. Numbers keep their text in the file.
func (d *Decoder) textEntries(n *yaml.Node) ([]Entry, bool) {
	return d.entriesOf(n, func(d *Decoder, n *yaml.Node) (Value, bool) {
		t, ok := d.Text(n)
		return Value{Pos: d.Pos(Deref(n)), Scalar: t.S, Text: &t}, ok
	})
}

func (d *Decoder) entriesOf(n *yaml.Node, read func(*Decoder, *yaml.Node) (Value, bool)) ([]Entry, bool) {
	all := make([]Entry, 0, len(n.Content)/2)
	d.eachKey(n, func(key, item *yaml.Node) {
		if v, ok := read(d, item); ok {
			all = append(all, Entry{Key: key.Value, Pos: d.Pos(key), Value: v})
		}
	})
	return all, Deref(n).Kind == yaml.MappingNode
}
