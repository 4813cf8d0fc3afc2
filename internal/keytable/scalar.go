package tool

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// text reads a string. What YAML takes for a number or a boolean keeps its
// written form, so that `version: 1.10` and `name: no` mean what they say.
func (d *decoder) text(n *yaml.Node) (Text, bool) {
	n = deref(n)
	switch {
	case isHole(n):
		d.unquoted(n)
		return Text{}, false
	case n.Kind != yaml.ScalarNode:
		d.wrongType(n, "text")
		return Text{}, false
	case n.ShortTag() == "!!null":
		d.fail(n, "empty-value", "expected text, found nothing", `write "" for an empty text, or quote the word if it is meant as text`)
		return Text{}, false
	}
	d.warnNumber(n)
	return d.textOf(n), true
}

var (
	octalLooking = pattern(`^[-+]?0(?:o?[0-7_]+)$`)
	exponentForm = pattern(`^[-+]?[0-9][0-9_.]*[eE][-+]?[0-9]+$`)
)

// warnNumber warns where other readers of YAML would see another number than
// the one written.
func (d *decoder) warnNumber(n *yaml.Node) {
	if n.Tag != "!!int" && n.Tag != "!!float" {
		return
	}
	switch {
	case octalLooking().MatchString(n.Value):
		d.warn(n, "number-as-text", fmt.Sprintf("%s is kept as text, but YAML takes it for an octal number", n.Value), fmt.Sprintf("quote it: %q", n.Value))
	case exponentForm().MatchString(n.Value):
		d.warn(n, "number-as-text", fmt.Sprintf("%s is kept as text, but YAML takes it for a number with an exponent", n.Value), fmt.Sprintf("quote it: %q", n.Value))
	}
}

// textOf is a scalar with the place of its first character.
func (d *decoder) textOf(n *yaml.Node) Text {
	form := plainForm
	switch {
	case d.repaired[n.Line]: // the file itself has the bare value
	case n.Style&yaml.SingleQuotedStyle != 0:
		form = singleForm
	case n.Style&yaml.DoubleQuotedStyle != 0:
		form = doubleForm
	case n.Style&yaml.LiteralStyle != 0:
		form = literalForm
	case n.Style&yaml.FoldedStyle != 0:
		form = foldedForm
	}
	return d.src.scalar(n.Value, d.start(n), form)
}

// start is where a scalar stands, past its anchor and tag.
func (d *decoder) start(n *yaml.Node) Pos {
	if n.Anchor == "" && n.Style&yaml.TaggedStyle == 0 {
		return d.pos(n)
	}
	from := d.offset(n.Line, n.Column)
	at, text := from, d.src.text
	for at < len(text) && (text[at] == '&' || text[at] == '!') {
		for at < len(text) && !isBlank(text[at]) && breakLen(text[at:]) == 0 {
			at++
		}
		at = skipSpace(text, at)
	}
	if skipped := text[from:at]; at < len(text) && !bytes.ContainsAny(skipped, "\r\n") {
		// Counted from here and not from the start of the line, of which there
		// may be only one in a large file.
		return Pos{d.src.file, n.Line, n.Column + utf8.RuneCount(skipped)}
	}
	return d.src.pos(min(at, len(text)-1))
}

// skipSpace goes past blanks, line breaks and comments.
func skipSpace(text []byte, at int) int {
	for at < len(text) {
		switch n := breakLen(text[at:]); {
		case isBlank(text[at]):
			at++
		case n > 0:
			at += n
		case text[at] == '#':
			for at < len(text) && breakLen(text[at:]) == 0 {
				at++
			}
		default:
			return at
		}
	}
	return at
}

// offset is source.offset, counting on from the last place asked for.
func (d *decoder) offset(line, col int) int {
	if line == d.atLine && col >= d.atCol {
		d.atOffset = d.src.forward(d.atOffset, col-d.atCol)
	} else {
		d.atOffset = d.src.offset(line, col)
	}
	d.atLine, d.atCol = line, col
	return d.atOffset
}

func (d *decoder) boolean(n *yaml.Node) (bool, bool) {
	n = deref(n)
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool" && (n.Value == "true" || n.Value == "false") {
		return n.Value == "true", true
	}
	if isHole(n) || n.Kind != yaml.ScalarNode {
		d.wrongType(n, "true or false")
		return false, false
	}
	hint := "write true or false"
	switch strings.ToLower(n.Value) {
	case "yes", "on", "y", "true", "1":
		hint = "write true, without quotes"
	case "no", "off", "n", "false", "0":
		hint = "write false, without quotes"
	}
	d.fail(n, "wrong-type", "expected true or false, found "+describe(n), hint)
	return false, false
}

var wholeNumber = pattern(`^[-+]?[0-9][0-9_]*$`)

// integer reads a whole number as YAML means it, and refuses one that does not
// fit: yaml.v3 would round it.
func (d *decoder) integer(n *yaml.Node) (int64, bool) {
	n = deref(n)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" && !d.isBigInteger(n) {
		d.wrongType(n, "a whole number")
		return 0, false
	}
	v, err := strconv.ParseInt(strings.ReplaceAll(n.Value, "_", ""), 0, 64)
	if err != nil {
		d.fail(n, "integer-range", fmt.Sprintf("cannot use the number %s: it does not fit in 64 bits and would be rounded", printable(n.Value)), "quote it if it is meant as text")
		return 0, false
	}
	if octalLooking().MatchString(n.Value) && !strings.Contains(n.Value, "o") && v > 7 {
		d.warn(n, "octal-number", fmt.Sprintf("YAML reads %s as an octal number: %d", n.Value, v), "remove the leading zero, or write 0o for an octal number")
	}
	return v, true
}

// isBigInteger knows a whole number so large that YAML made it a float.
func (d *decoder) isBigInteger(n *yaml.Node) bool {
	return n.ShortTag() == "!!float" && wholeNumber().MatchString(n.Value)
}

func within(low, high int64) func(*decoder, *yaml.Node) (int, bool) {
	return func(d *decoder, n *yaml.Node) (int, bool) {
		v, ok := d.integer(n)
		if ok && (v < low || v > high) {
			d.fail(deref(n), "out-of-range", fmt.Sprintf("the number %d is out of range", v), fmt.Sprintf("use a whole number from %d to %d", low, high))
			return 0, false
		}
		return int(v), ok
	}
}

func (d *decoder) number(n *yaml.Node) (float64, bool) {
	n = deref(n)
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!float" && !d.isBigInteger(n) {
		return d.float(n)
	}
	v, ok := d.integer(n)
	return float64(v), ok
}

func (d *decoder) float(n *yaml.Node) (float64, bool) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		d.fail(n, "out-of-range", fmt.Sprintf("cannot use %s as a number", printable(n.Value)), "use a finite number; infinity and NaN have no form in JSON")
		return 0, false
	}
	return v, true
}

// maxDuration bounds every duration: what is longer is a slip of units.
const maxDuration = 365 * 24 * time.Hour

// duration reads a time span: a whole number of milliseconds, or text with
// units as Go writes it (S1-190).
func (d *decoder) duration(n *yaml.Node) (time.Duration, bool) {
	const hint = `write milliseconds (5000) or a text with units ("5s", "1m30s", "2h"), from 1 ms to 365 days (8760h)`
	n = deref(n)
	if n.Kind != yaml.ScalarNode {
		d.wrongType(n, "a duration")
		return 0, false
	}
	var v time.Duration
	if ms, err := strconv.ParseInt(n.Value, 10, 64); err == nil && n.ShortTag() == "!!int" {
		v = time.Duration(min(max(ms, -1), int64(maxDuration/time.Millisecond)+1)) * time.Millisecond
	} else if v, err = time.ParseDuration(n.Value); err != nil || n.ShortTag() != "!!str" {
		d.fail(n, "bad-duration", fmt.Sprintf("cannot read %s as a duration", quote(n.Value)), hint)
		return 0, false
	}
	if v < time.Millisecond || v > maxDuration {
		d.fail(n, "bad-duration", fmt.Sprintf("the duration %s is out of range", printable(n.Value)), hint)
		return 0, false
	}
	return v, true
}

var (
	sizeForm  = pattern(`^([0-9]+) ?([A-Za-z]*)$`)
	sizeUnits = map[string]int64{
		"": 1, "B": 1,
		"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}
)

// size reads a number of bytes (S1-081).
func (d *decoder) size(n *yaml.Node) (int64, bool) {
	const hint = "write a whole number of bytes, or one with a unit: KB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024)"
	n = deref(n)
	if n.Kind != yaml.ScalarNode {
		d.wrongType(n, "a size")
		return 0, false
	}
	m := sizeForm().FindStringSubmatch(n.Value)
	if m == nil || sizeUnits[m[2]] == 0 {
		d.fail(n, "bad-size", fmt.Sprintf("cannot read %s as a size", quote(n.Value)), hint)
		return 0, false
	}
	v, err := strconv.ParseInt(m[1], 10, 64)
	if unit := sizeUnits[m[2]]; err != nil || v == 0 || v > math.MaxInt64/unit {
		d.fail(n, "bad-size", fmt.Sprintf("the size %s is out of range", printable(n.Value)), hint)
		return 0, false
	}
	return v * sizeUnits[m[2]], true
}

// value reads any value with its places.
func (d *decoder) value(n *yaml.Node) (Value, bool) {
	n = deref(n)
	v := Value{Pos: d.pos(n)}
	ok := true
	switch {
	case isHole(n):
		d.unquoted(n)
		return v, false
	case n.Kind == yaml.SequenceNode:
		v.List, ok = d.values(n)
	case n.Kind == yaml.MappingNode:
		v.Map, ok = d.entries(n)
	default:
		ok = d.scalar(n, &v)
	}
	return v, ok
}

func (d *decoder) scalar(n *yaml.Node, v *Value) (ok bool) {
	v.written = n.Value
	switch tag := n.ShortTag(); {
	case tag == literalTag && d.literals:
		v.Scalar = n.Value
		return true
	case tag == "!!null":
		return true
	case tag == "!!bool":
		v.Scalar = strings.EqualFold(n.Value, "true")
		return true
	case tag == "!!int" || d.isBigInteger(n):
		v.Scalar, ok = d.integer(n)
		return ok
	case tag == "!!float":
		v.Scalar, ok = d.float(n)
		return ok
	}
	t := d.textOf(n)
	v.Scalar, v.Text = t.S, &t
	return true
}

func (d *decoder) values(n *yaml.Node) ([]Value, bool) {
	n = deref(n)
	if n.Kind != yaml.SequenceNode {
		d.wrongType(n, "a list")
		return nil, false
	}
	return listOf((*decoder).value)(d, n)
}

func (d *decoder) entries(n *yaml.Node) ([]Entry, bool) {
	return d.entriesOf(n, (*decoder).value)
}

// textEntries reads a mapping of names to texts; numbers keep their written form.
func (d *decoder) textEntries(n *yaml.Node) ([]Entry, bool) {
	return d.entriesOf(n, func(d *decoder, n *yaml.Node) (Value, bool) {
		t, ok := d.text(n)
		return Value{Pos: d.pos(deref(n)), Scalar: t.S, Text: &t}, ok
	})
}

func (d *decoder) entriesOf(n *yaml.Node, read func(*decoder, *yaml.Node) (Value, bool)) ([]Entry, bool) {
	all := make([]Entry, 0, len(n.Content)/2)
	d.eachKey(n, func(key, item *yaml.Node) {
		if v, ok := read(d, item); ok {
			all = append(all, Entry{Key: key.Value, Pos: d.pos(key), Value: v})
		}
	})
	return all, deref(n).Kind == yaml.MappingNode
}
