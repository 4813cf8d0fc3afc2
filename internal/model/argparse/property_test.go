package argparse_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// A maker makes schemas, arguments that fit them, and texts that mean those arguments.
type maker struct{ *rand.Rand }

func (m maker) pick(of ...string) string { return of[m.IntN(len(of))] }

// nasty are pieces of texts that look like something else.
var nasty = []string{
	"hello", "world", " ", " ", ", ", "it's", `"hi"`, `"`, "'", "`", "{", "}", "[", "]", "(", ")", `", "`, `": "`, `"}`, `"]`,
	"\n", "\t", `\`, `\d`, `\n`, "//", " // x", "# no", "/*", "...", "…", "```", "</parameter>", "<think>", "</think>", "=", ": ", "a: 1", ", b: 2", `"b": 2`,
	"{\"a\": 1}", "true", "null", "None", "10", "1,5", "é", "😀", "“q”", "’", "10 bar", "f(x)", "a+b", ";", "\u200b", "C:\\new", "${x}", "%", "-",
}

func (m maker) text() string {
	if m.IntN(3) == 0 {
		return m.pick("hello", "fast", "a b", "src/main.go", "*.go", "what is this?", "x")
	}
	var b strings.Builder
	for range m.IntN(5) {
		b.WriteString(nasty[m.IntN(len(nasty))])
	}
	return b.String()
}

func (m maker) number() json.Number {
	return json.Number(m.pick("0", "1", "10", "-3", "1.5", "0.10", "1e3", "9007199254740993", "-0.5"))
}

func (m maker) schema(depth int) *argparse.Schema {
	switch n := m.IntN(8 + depth); n {
	case 0, 1, 2:
		return &argparse.Schema{Types: []string{"string"}}
	case 3:
		return &argparse.Schema{Types: []string{"number"}}
	case 4:
		return &argparse.Schema{Types: []string{"integer"}}
	case 5:
		return &argparse.Schema{Types: []string{"boolean"}}
	case 6:
		return &argparse.Schema{Types: []string{"string"}, Enum: []any{"fast", "slow-mo", "two words"}}
	case 7:
		return &argparse.Schema{}
	case 8:
		return &argparse.Schema{Types: []string{"array"}, Items: m.schema(depth - 1)}
	}
	return &argparse.Schema{Types: []string{"object"}, Properties: m.properties(depth - 1)}
}

func (m maker) properties(depth int) []argparse.Property {
	var props []argparse.Property
	for _, i := range m.Perm(6)[:m.IntN(5)] {
		name := []string{"a", "b", "path", "fileName", "c", "text"}[i]
		props = append(props, argparse.Property{Name: name, Schema: m.schema(depth), Required: m.IntN(4) == 0})
	}
	return props
}

func (m maker) value(s *argparse.Schema, depth int) any {
	if s == nil || len(s.Types) == 0 {
		switch m.IntN(4 + depth) {
		case 0:
			return m.text()
		case 1:
			return m.number()
		case 2:
			return m.IntN(2) == 0
		case 3:
			return nil
		case 4:
			return m.items(nil, depth)
		}
		return m.members(nil, depth)
	}
	switch s.Types[0] {
	case "number":
		return m.number()
	case "integer":
		return json.Number(m.pick("0", "7", "-12", "9007199254740993"))
	case "boolean":
		return m.IntN(2) == 0
	case "array":
		return m.items(s.Items, depth)
	case "object":
		return m.members(s, depth)
	}
	if len(s.Enum) > 0 {
		return s.Enum[m.IntN(len(s.Enum))]
	}
	return m.text()
}

func (m maker) items(s *argparse.Schema, depth int) []any {
	list := []any{}
	for range m.IntN(4) {
		list = append(list, m.value(s, max(depth-1, 0)))
	}
	return list
}

func (m maker) members(s *argparse.Schema, depth int) map[string]any {
	o := map[string]any{}
	if s != nil {
		for _, p := range s.Properties {
			if p.Required || m.IntN(3) > 0 {
				o[p.Name] = m.value(p.Schema, max(depth-1, 0))
			}
		}
		return o
	}
	for range m.IntN(3) {
		o[m.pick("a", "b", "x y", "deep", "true", "path")] = m.value(nil, max(depth-1, 0))
	}
	return o
}

// mark precedes the characters that are syntax, until unmark removes it.
const mark = "\ue000"

func unmark(s string) string { return strings.ReplaceAll(s, mark, "") }

// style is how a text is written.
type style struct {
	quote                                                   string
	python, bareKeys, equals, trailing, noComma, rawNewline bool
	unescaped, tuples, comments, spread                     bool
}

func (m maker) style() style {
	yes := func() bool { return m.IntN(5) == 0 }
	return style{
		quote: m.pick(`"`, `"`, `'`), python: yes(), bareKeys: yes(), equals: yes(), trailing: yes(), noComma: yes(),
		rawNewline: yes(), unescaped: yes(), tuples: yes(), comments: yes(), spread: yes(),
	}
}

func (st style) write(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString(map[bool]string{false: "null", true: "None"}[st.python])
	case bool:
		if st.python {
			b.WriteString(map[bool]string{false: "False", true: "True"}[v])
		} else {
			b.WriteString(strconv.FormatBool(v))
		}
	case json.Number:
		b.WriteString(string(v))
	case string:
		st.text(b, v)
	case []any:
		open, shut := "[", "]"
		if st.tuples && len(v) > 1 {
			open, shut = "(", ")"
		}
		b.WriteString(mark + open)
		for i, e := range v {
			if i > 0 {
				b.WriteString(mark + ", ")
			}
			st.write(b, e)
		}
		if st.trailing && len(v) > 0 {
			b.WriteString(",")
		}
		b.WriteString(mark + shut)
	case map[string]any:
		b.WriteString(mark + "{")
		st.pairs(b, v)
		if st.trailing && len(v) > 0 {
			b.WriteString(",")
		}
		b.WriteString(mark + "}")
	}
}

func (st style) pairs(b *strings.Builder, v map[string]any) {
	first := true
	for k, e := range v {
		if !first {
			if !st.noComma {
				b.WriteString(mark + ",")
			}
			b.WriteString(" ")
			if st.spread {
				b.WriteString("\n  ")
			}
			if st.comments {
				b.WriteString("/* next */ ")
			}
		}
		first = false
		if st.bareKeys && !strings.Contains(k, " ") {
			b.WriteString(k)
		} else {
			st.text(b, k)
		}
		if st.equals {
			b.WriteString(mark + "=")
		} else {
			b.WriteString(mark + ": ")
		}
		st.write(b, e)
	}
}

// likeSyntax are texts whose quotes, unescaped, end them for every reader.
var likeSyntax = regexp.MustCompile("[\"']\\s*([],:=})]|$|//|#|/\\*)")

func (st style) text(b *strings.Builder, s string) {
	if likeSyntax.MatchString(s) {
		st.unescaped = false
	}
	b.WriteString(mark + st.quote)
	for _, c := range s {
		switch {
		case string(c) == st.quote && !st.unescaped:
			b.WriteString(mark + `\` + string(c))
		case c == '\\':
			b.WriteString(`\\`)
		case c == '\n' && !st.rawNewline:
			b.WriteString(`\n`)
		case c == '\t' && !st.rawNewline:
			b.WriteString(`\t`)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteString(mark + st.quote)
}

// wrap puts something around a text.
func (m maker) wrap(text string) string {
	switch m.IntN(12) {
	case 0:
		return "```json\n" + text + "\n```"
	case 1:
		return "```" + text + "```"
	case 2:
		return "Sure, here's the call:\n\n" + text + "\n\nI hope it's right."
	case 3:
		return `{"name": "search", "arguments": ` + text + `}`
	case 4:
		b, _ := json.Marshal(text)
		return `{"name": "search", "arguments": ` + string(b) + `}`
	case 5:
		return "search(" + text + ")"
	case 6:
		return "<tool_call>\n{\"name\": \"search\", \"arguments\": " + text + "}\n</tool_call>"
	case 7:
		return "<think>I could send {\"a\": 1}.</think>\n" + text
	case 8:
		b, _ := json.Marshal(text)
		return string(b)
	case 9:
		return "<function=search>" + text + "</function>"
	case 10:
		return "[" + text + "]"
	}
	return text
}

// damage takes one character away that holds a text together, or cuts the text off.
func (m maker) damage(text string) (string, string) {
	plain := unmark(text)
	if m.IntN(3) == 0 {
		at := m.IntN(len(plain) + 1)
		return plain[:at], "cut"
	}
	parts := strings.Split(text, mark)
	if len(parts) == 1 {
		return plain, "nothing"
	}
	i := 1 + m.IntN(len(parts)-1)
	lost := parts[i][:1]
	parts[i] = parts[i][1:]
	return strings.Join(parts, ""), "lost " + lost
}

var cases = flag.Int("cases", 0, "how many cases the property tests make; 0: some")

// seeds is how many cases a property test makes.
func seeds(least int) uint64 {
	if *cases > 0 {
		return uint64(*cases)
	}
	return uint64(sizetest.Of(least/10, least, 10*least))
}

type property struct {
	schema *argparse.Schema
	value  map[string]any
	text   string
	how    string
}

func (p property) String() string {
	s, _ := json.Marshal(p.schema)
	v, _ := json.Marshal(p.value)
	return fmt.Sprintf("%s\n text:   %s\n meant:  %s\n schema: %s", p.how, p.text, v, s)
}

// newCase makes the arguments of a case, and how they are written.
func newCase(seed uint64) (maker, property, style) {
	m := maker{rand.New(rand.NewPCG(seed, 8))}
	s := &argparse.Schema{Types: []string{"object"}, Properties: m.properties(3)}
	v := m.members(s, 3)
	for k := range v {
		if v[k] == nil {
			delete(v, k) // not given
		}
	}
	for _, p := range s.Properties {
		if p.Required && v[p.Name] == nil {
			v[p.Name] = m.value(&argparse.Schema{Types: []string{"string"}}, 0)
			*p.Schema = argparse.Schema{Types: []string{"string"}}
		}
	}
	return m, property{schema: s, value: v}, m.style()
}

// check returns the result of a case: "same", or the code of the refusal.
func (p property) check(t *testing.T) string {
	t.Helper()
	res, ref := argparse.Parse(p.schema, "search", []byte(p.text))
	if ref != nil {
		return ref.Code
	}
	if !reflect.DeepEqual(res.Value, p.value) {
		got, _ := json.Marshal(res.Value)
		t.Errorf("a third result: %s\n got:    %s", p, got)
		return "third"
	}
	return "same"
}

// TestWritten checks that malformed arguments are read correctly or refused.
func TestWritten(t *testing.T) {
	seen := map[string]int{}
	n := seeds(20_000)
	for seed := range n {
		m, p, st := newCase(seed)
		var b strings.Builder
		st.write(&b, p.value)
		p.text, p.how = unmark(b.String()), fmt.Sprintf("%d %+v", seed, st)
		if json.Valid([]byte(p.text)) && st.unescaped {
			continue // what strict JSON says
		}
		p.text = m.wrap(p.text)
		got := p.check(t)
		seen[got]++
		if t.Failed() {
			return
		}
	}
	t.Log(seen)
	if seen["same"] < int(n)*8/10 {
		t.Error("too much is refused")
	}
}

// TestDamaged checks that a text without one of its characters is read as the original or
// refused.
func TestDamaged(t *testing.T) {
	seen := map[string]int{}
	for seed := range seeds(50_000) {
		m, p, st := newCase(seed)
		st.unescaped = false
		var b strings.Builder
		st.write(&b, p.value)
		text := m.wrap(b.String())
		p.text, p.how = m.damage(text)
		if strictly(p.text) {
			continue
		}
		p.how = fmt.Sprintf("%d %s %+v", seed, p.how, st)
		seen[p.check(t)]++
		if t.Failed() {
			return
		}
	}
	t.Log(seen)
}

// strictly reports whether a text is JSON, which has only one meaning.
func strictly(text string) bool {
	var s string
	if json.Unmarshal([]byte(text), &s) == nil {
		text = s
	}
	return json.Valid([]byte(text)) || strings.TrimSpace(text) == ""
}
