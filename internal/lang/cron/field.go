package cron

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// field describes what one field of a line may contain.
type field struct {
	name      string
	low, high int
	names     []string // of the values, starting at low
	days      bool     // ? means any
}

var fieldTable = [6]field{
	{name: "second", low: 0, high: 59},
	{name: "minute", low: 0, high: 59},
	{name: "hour", low: 0, high: 23},
	{name: "day of month", low: 1, high: 31, days: true},
	{name: "month", low: 1, high: 12, names: []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}},
	{name: "day of week", low: 0, high: 7, names: []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}, days: true},
}

func (f field) ofMonth() bool { return f.name == "day of month" }
func (f field) ofWeek() bool  { return f.name == "day of week" }

// size returns the number of values. 0 and 7 are the same day of the week.
func (f field) size() int {
	if f.ofWeek() {
		return 7
	}
	return f.high - f.low + 1
}

// allowed returns the part of a message that says what the field accepts.
func (f field) allowed() string {
	switch {
	case f.ofMonth():
		return "allowed are 1 to 31, *, ?, ranges a-b, steps */n, lists, L, L-n, LW and nW"
	case f.ofWeek():
		return "allowed are 0 to 7 (0 and 7 are Sunday), SUN to SAT, *, ?, ranges a-b, steps */n, lists, FRIL and FRI#3"
	case f.names != nil:
		return "allowed are 1 to 12, JAN to DEC, *, ranges a-b, steps */n and lists"
	}
	return fmt.Sprintf("allowed are %d to %d, *, ranges a-b, steps */n and lists", f.low, f.high)
}

// values are the values that one field matches.
type values struct {
	set            uint64 // one bit for each value
	any, stepped   bool   // the field has * or ?; the field has a step
	fromLast       uint64 // day of month: L-n as bit n, L as bit 0
	lastWeekday    bool   // day of month: LW
	nearestWeekday uint64 // day of month: nW as bit n
	lastOf         uint64 // day of week: 5L as bit 5
	nth            [6]uint8
}

// field parses one field.
func (p *parser) field(f field, w word) values {
	var v values
	off := w.off
	for item := range strings.SplitSeq(w.text, ",") {
		at := word{item, off}
		off += len(item) + 1
		if item == "" {
			p.report(word{w.text, w.off}, f.name, "", "%q has an empty list element", shorten(w.text))
			return v
		}
		p.item(f, at, &v)
	}
	return v
}

// upperASCII changes a to z to upper case and leaves every other byte alone, so that offsets stay the same.
func upperASCII(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

// item parses one item of a list.
func (p *parser) item(f field, w word, v *values) {
	text := upperASCII(w.text)
	if text == "*" || text == "?" && f.days {
		v.any = true
		v.set |= stepSet(f.low, f.last(), 1)
		return
	}
	if f.ofMonth() && p.monthItem(w, text, v) || f.ofWeek() && p.weekItem(f, w, text, v) {
		return
	}
	body, step, stepped := strings.Cut(text, "/")
	from, to, ok := p.bounds(f, word{w.text[:len(body)], w.off}, body, stepped)
	n := 1
	if stepped {
		n = p.step(f, word{w.text[len(body)+1:], w.off + len(body) + 1}, step)
		v.stepped = true
	}
	if ok && n > 0 {
		v.set |= stepSet(from, to, n)
		v.any = v.any || body == "*" && n == 1
	}
	if f.ofWeek() && v.set&(1<<7) != 0 {
		v.set = v.set&^(1<<7) | 1
	}
}

// last returns the highest value that * and a/n include.
func (f field) last() int {
	if f.ofWeek() {
		return 6
	}
	return f.high
}

// stepSet returns the set of from, from+n and so on, up to to.
func stepSet(from, to, n int) uint64 {
	var set uint64
	for i := from; i <= to; i += n {
		set |= 1 << i
	}
	return set
}

// bounds parses *, a or a-b, before a step or alone.
func (p *parser) bounds(f field, w word, text string, stepped bool) (from, to int, ok bool) {
	if text == "*" {
		return f.low, f.last(), true
	}
	a, b, ranged := strings.Cut(text, "-")
	from, ok = p.value(f, word{w.text[:len(a)], w.off}, a)
	switch {
	case !ok:
		return 0, 0, false
	case !ranged && stepped:
		if f.ofWeek() && from == 7 {
			from = 0
		}
		return from, f.last(), true
	case !ranged:
		return from, from, true
	}
	to, ok = p.value(f, word{w.text[len(a)+1:], w.off + len(a) + 1}, b)
	if !ok {
		return 0, 0, false
	}
	if b == "SUN" && from > 0 { // Sunday is also the end of a week
		to = 7
	}
	if from > to {
		p.report(w, f.name, "", "the range %s is reversed, and ranges cannot wrap around; write %s", shorten(w.text), f.split(from, to))
		return 0, 0, false
	}
	return from, to, true
}

// split returns a range that wraps around as a list of ranges that do not.
func (f field) split(from, to int) string {
	end := f.valueText(from) + "-" + f.valueText(f.last())
	if f.ofWeek() && from == 7 {
		return f.valueText(0) + "-" + f.valueText(to)
	}
	if from == f.last() {
		end = f.valueText(from)
	}
	begin := f.valueText(f.low) + "-" + f.valueText(to)
	if to == f.low {
		begin = f.valueText(to)
	}
	return end + "," + begin
}

// valueText returns a value as people write it.
func (f field) valueText(n int) string {
	if f.names != nil && n-f.low < len(f.names) {
		return f.names[n-f.low]
	}
	return strconv.Itoa(n)
}

// value parses a number or a name.
func (p *parser) value(f field, w word, text string) (int, bool) {
	if i := slices.Index(f.names, text); i >= 0 {
		return f.low + i, true
	}
	n, ok := number(text)
	switch {
	case ok && n >= f.low && n <= f.high:
		return n, true
	case ok:
		p.report(w, f.name, "", "%s is out of range: %s", shorten(w.text), f.allowed())
	case text == "":
		p.report(w, f.name, "", "a value is missing: %s", f.allowed())
	case text == "H" || strings.HasPrefix(text, "H("):
		p.report(w, f.name, "to spread runs, give the schedule a jitter", "H is not supported: %s", f.allowed())
	default:
		p.report(w, f.name, f.nameHint(text), "invalid value %q: %s", shorten(w.text), f.allowed())
	}
	return 0, false
}

// nameHint returns a hint for a longer name, such as MONDAY.
func (f field) nameHint(text string) string {
	if len(text) > 3 && slices.Contains(f.names, text[:3]) {
		return "write " + text[:3]
	}
	return ""
}

// number parses digits, and nothing else: no sign and no spaces. A number that does not fit an int becomes a
// large one, which is out of range for every field.
func number(text string) (int, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 1 << 30, true
	}
	return n, true
}

// step parses what follows a slash. It returns 0 after it has reported a problem.
func (p *parser) step(f field, w word, text string) int {
	n, ok := number(text)
	switch {
	case !ok || n == 0:
		p.report(w, f.name, "", "invalid step %q: write a number from 1 to %d after the /", shorten(w.text), f.size())
		return 0
	case n > f.size():
		p.report(w, f.name, f.everyHint(n), "the step %s is too large: steps start again with each field, so the maximum is %d", shorten(w.text), f.size())
		return 0
	}
	return n
}

// everyHint returns the hint to use @every for a step that does not fit the field.
func (f field) everyHint(n int) string {
	unit := map[string]string{"second": "s", "minute": "m", "hour": "h"}[f.name]
	if unit == "" || n > 9999 {
		return ""
	}
	return fmt.Sprintf("to run every %d%s, write @every %d%s", n, unit, n, unit)
}

// monthItem parses L, L-n, LW and nW, and reports whether the item is one of them.
func (p *parser) monthItem(w word, text string, v *values) bool {
	const f = "day of month"
	day, near := strings.CutSuffix(text, "W")
	n, ok := number(day)
	back, fromLast := strings.CutPrefix(text, "L-")
	k, counted := number(back)
	switch {
	case text == "L":
		v.fromLast |= 1
	case text == "LW" || text == "WL":
		v.lastWeekday = true
	case fromLast && counted && k >= 1 && k <= 30:
		v.fromLast |= 1 << k
	case fromLast:
		p.report(w, f, "", "invalid value %q: in L-n, n is a number of days before the last day, from 1 to 30", shorten(w.text))
	case near && ok && n >= 1 && n <= 31:
		v.nearestWeekday |= 1 << n
	case near:
		p.report(w, f, "", "invalid value %q: in nW, n is a day from 1 to 31; LW is the last weekday", shorten(w.text))
	default:
		return false
	}
	return true
}

// weekItem parses FRIL and FRI#3, and reports whether the item is one of them.
func (p *parser) weekItem(f field, w word, text string, v *values) bool {
	if text == "L" {
		p.report(w, f.name, "", "L needs a day here: FRIL or 5L is the last Friday of the month")
		return true
	}
	if day, nth, is := strings.Cut(text, "#"); is {
		d, ok := p.value(f, word{w.text[:len(day)], w.off}, day)
		n, counted := number(nth)
		switch {
		case !counted || n < 1 || n > 5:
			p.report(w, f.name, "", "invalid value %q: write a number from 1 to 5 after the #: FRI#3 is the third Friday of the month", shorten(w.text))
		case ok:
			v.nth[n] |= 1 << (d % 7)
		}
		return true
	}
	day, is := strings.CutSuffix(text, "L")
	if _, digits := number(day); is && (digits || slices.Contains(f.names, day)) {
		if d, ok := p.value(f, word{w.text[:len(day)], w.off}, day); ok {
			v.lastOf |= 1 << (d % 7)
		}
		return true
	}
	return false
}
