package cron

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/lang/duration"
)

// Options are what a line does not say itself.
type Options struct {
	Zone *time.Location // the zone of lines that name none; nil is the zone of the machine
}

// maxLine is the maximum length of a line in bytes.
const maxLine = 1024

// macros are names for whole lines.
var macros = map[string]string{
	"@hourly":   "0 * * * *",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@weekly":   "0 0 * * 0",
	"@monthly":  "0 0 1 * *",
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
}

const macroNames = "@hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually and @every 1h30m"

// Parse parses a line. The error is an *Error with all problems of the line.
func Parse(text string, o Options) (Spec, error) {
	p := &parser{text: text}
	s := p.line(o)
	if len(p.problems) > 0 {
		return Spec{}, &Error{Text: text, Problems: p.problems}
	}
	return s, nil
}

// parser parses one line and collects its problems.
type parser struct {
	text     string
	problems []Problem
}

// word is a part of the text, and its offset.
type word struct {
	text string
	off  int
}

func (p *parser) report(w word, field, hint, format string, args ...any) {
	p.problems = append(p.problems, Problem{Off: w.off, Len: len(w.text), Field: field, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

func (p *parser) line(o Options) Spec {
	whole := word{p.text, 0}
	if len(p.text) > maxLine {
		p.report(whole, "", "", "the expression has %d bytes; the limit is %d", len(p.text), maxLine)
		return Spec{}
	}
	list := words(p.text)
	s := Spec{zone: o.Zone}
	if s.zone == nil {
		s.zone = time.Local
	}
	if len(list) > 0 {
		if name, is := zoneName(list[0].text); is {
			s.zone, s.namesZone = p.zone(list[0], name), true
			list = list[1:]
		}
	}
	switch {
	case len(list) == 0:
		p.report(whole, "", `for example "0 7 * * 1-5", at 07:00 on Monday to Friday`, "the expression has no fields: five are needed (minute, hour, day of month, month, day of week), or six with the second first")
	case list[0].text[0] == '@':
		p.macro(&s, list)
	default:
		p.fields(&s, list)
	}
	return s
}

// words splits the text at spaces.
func words(text string) []word {
	var list []word
	start := -1
	for i := range len(text) + 1 {
		blank := i == len(text) || strings.IndexByte(" \t\r\n", text[i]) >= 0
		switch {
		case blank && start >= 0:
			list = append(list, word{text[start:i], start})
			start = -1
		case !blank && start < 0:
			start = i
		}
	}
	return list
}

func zoneName(text string) (string, bool) {
	for _, prefix := range []string{"CRON_TZ=", "TZ="} {
		if name, is := strings.CutPrefix(text, prefix); is {
			return name, true
		}
	}
	return "", false
}

func (p *parser) zone(w word, name string) *time.Location {
	z, err := LoadZone(name)
	if err != nil {
		at := word{name, w.off + len(w.text) - len(name)}
		p.report(at, "time zone", "", "%v", err)
	}
	return z
}

// LoadZone returns the time zone with a name of the IANA database. The error says what names look like.
func LoadZone(name string) (*time.Location, error) {
	const allowed = "a name from the time zone database, such as Europe/Zurich, America/New_York or UTC"
	if name == "" {
		return nil, fmt.Errorf("the name is missing; write %s", allowed)
	}
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_+-/", r)
	}
	if len(name) <= 64 && strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) < 0 {
		if z, err := time.LoadLocation(name); err == nil {
			return z, nil
		}
	}
	return nil, fmt.Errorf("%q is not known; write %s", shorten(name), allowed)
}

// shorten cuts text of the line that a message repeats.
func shorten(text string) string {
	if len(text) > 40 {
		return strings.ToValidUTF8(text[:40], "") + "..."
	}
	return text
}

// macro parses a line that begins with @.
func (p *parser) macro(s *Spec, list []word) {
	name := strings.ToLower(list[0].text)
	switch fields, known := macros[name]; {
	case name == "@every":
		p.interval(s, list)
	case name == "@reboot":
		p.report(list[0], "", "to run a tool when the machine starts, use the init system, for example a systemd unit", "@reboot is not supported")
	case !known:
		p.report(list[0], "", "", "unknown name %q; use one of %s", shorten(list[0].text), macroNames)
	case len(list) > 1:
		p.report(list[1], "", "", "nothing may follow %s", name)
	default:
		p.fields(s, words(fields))
		s.text = name
	}
}

func (p *parser) interval(s *Spec, list []word) {
	const form = "one interval such as 90s, 15m or 1h30m, of whole seconds and at least 1s"
	if len(list) != 2 {
		p.report(list[0], "", "", "@every takes %s", form)
		return
	}
	d, err := duration.Parse(strings.ToLower(list[1].text))
	switch {
	case err != nil:
		p.report(list[1], "interval", "units are w, d, h, m and s, and a day has 24 hours; for calendar days, use fields such as 0 7 * * *", "%q is not an interval: @every takes %s", shorten(list[1].text), form)
	case d < time.Second || d%time.Second != 0:
		p.report(list[1], "interval", "", "invalid interval %q: @every takes %s", shorten(list[1].text), form)
	default:
		s.every = int64(d / time.Second)
		s.text = "@every " + spellInterval(s.every)
	}
}

func (p *parser) fields(s *Spec, list []word) {
	switch n := len(list); {
	case n == 5:
		list = append([]word{{"0", 0}}, list...)
	case n == 7:
		p.report(list[6], "", "to limit a schedule to a year, set its start and end", "there are 7 fields, but five are needed, or six with the second first; there is no field for the year")
		return
	case n != 6:
		at := word{p.text[list[0].off:], list[0].off}
		if n > 6 {
			at = word{p.text[list[6].off:], list[6].off}
		}
		p.report(at, "", "", "there %s, but five are needed (minute, hour, day of month, month, day of week), or six with the second first", fieldCount(n))
		return
	}
	var v [6]values
	for i, w := range list {
		v[i] = p.field(fieldTable[i], w)
		s.words[i] = upperASCII(w.text)
	}
	if len(p.problems) > 0 {
		return
	}
	s.seconds, s.minutes, s.hours, s.months = v[0].set, v[1].set, v[2].set, v[4].set
	s.realTime = v[2].stepped || v[2].any
	s.date = dates{month: v[3], week: v[5]}
	s.text = strings.Join(s.words[:], " ")
	if s.words[0] == "0" {
		s.text = strings.Join(s.words[1:], " ")
	}
	if !s.date.possible(s.months) {
		p.report(list[3], "day of month", "", "%s does not occur in %s, so this would never fire", shorten(s.words[3]), monthNames(s.months))
	}
}

func fieldCount(n int) string {
	if n == 1 {
		return "is 1 field"
	}
	return fmt.Sprintf("are %d fields", n)
}

// monthNames returns the names of the months in the set.
func monthNames(set uint64) string {
	var list []string
	for ; set != 0; set &= set - 1 {
		list = append(list, time.Month(bits.TrailingZeros64(set)).String())
	}
	return joinWords(list, "or")
}

// joinWords joins a list as in a sentence.
func joinWords(list []string, conjunction string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(slices.Clip(list[:last]), ", ") + " " + conjunction + " " + list[last]
}
