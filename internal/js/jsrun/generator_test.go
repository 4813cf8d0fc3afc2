package jsrun

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// program is a generated script: statements, and expressions whose values are compared, each by itself.
type program struct {
	topic string
	setup []string
	lines []string
}

// text returns the program as a js: step that returns the values of its lines as texts.
func (p program) text() string {
	var b strings.Builder
	b.WriteString(showCode)
	for _, s := range p.setup {
		b.WriteString(s + ";\n")
	}
	for _, line := range p.lines {
		b.WriteString("await line(async () => (" + line + "));\n")
	}
	b.WriteString("return out;\n")
	return b.String()
}

// showCode defines line, which adds the text of a value to out. Of errors that the engine throws it shows only the
// name; those of a program have messages that begin with "own".
const showCode = `
const out = [];
const show = (v, outer = []) => {
  if (typeof v === 'string') return '"' + v.replace(/[^ -~]/g, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')) + '"';
  if (typeof v === 'bigint') return v + 'n';
  if (typeof v === 'function') return 'function ' + v.name;
  if (Object.is(v, -0)) return '-0';
  if (v === null || typeof v !== 'object') return String(v);
  if (outer.includes(v)) return 'circular';
  const inner = x => show(x, [...outer, v]);
  const members = o => Object.keys(o).map(k => k + ': ' + inner(o[k])).join(', ');
  if (v instanceof Error) {
    const own = String(v.message).startsWith('own') ? ': ' + v.message : '';
    return v.name + own + ('cause' in v ? ' cause ' + inner(v.cause) : '') + (v.errors ? ' of ' + inner([...v.errors]) : '');
  }
  if (v instanceof Date) return 'Date ' + (isNaN(v) ? 'invalid' : v.toISOString());
  if (v instanceof RegExp) return String(v) + ' at ' + v.lastIndex;
  if (v instanceof Map) return 'Map(' + [...v].map(([k, x]) => inner(k) + ' => ' + inner(x)).join(', ') + ')';
  if (v instanceof Set) return 'Set(' + [...v].map(inner).join(', ') + ')';
  if (ArrayBuffer.isView(v) && !(v instanceof DataView)) return v.constructor.name + '(' + Array.from(v, String).join(' ') + ')';
  if (v instanceof ArrayBuffer) return 'ArrayBuffer(' + [...new Uint8Array(v)].join(' ') + ')';
  if (Array.isArray(v)) {
    const list = [];
    for (let i = 0; i < v.length; i++) list.push(i in v ? inner(v[i]) : 'empty');
    const match = 'index' in v ? ' at ' + v.index + ' groups ' + inner(v.groups && { ...v.groups }) : '';
    return '[' + list.join(', ') + ']' + match;
  }
  const proto = Object.getPrototypeOf(v);
  const name = proto && proto.constructor ? proto.constructor.name : 'null';
  return (name === 'Object' ? '' : name + ' ') + '{' + members(v) + '}';
};
const line = async f => {
  try { out.push(show(await f())); } catch (e) { out.push('threw ' + show(e)); }
};
`

// generator makes programs. Equal seeds give equal programs.
type generator struct {
	*rand.Rand
	ascii bool // texts that patterns search in have only ASCII characters
}

// topics are what programs are about.
var topics = []struct {
	name string
	make func(g generator, p *program)
}{
	{"regular expressions", generator.patterns},
	{"numbers", generator.numbers},
	{"dates", generator.dates},
	{"JSON", generator.json},
	{"text", generator.texts},
	{"bytes", generator.bytes},
	{"URLs", generator.urls},
	{"errors", generator.errors},
	{"order", generator.order},
	{"collections", generator.collections},
	{"classes", generator.classes},
	{"streams", generator.streams},
}

// generate returns the program number n of a seed. The topics take turns.
func generate(seed, n uint64) program {
	g := generator{Rand: rand.New(rand.NewPCG(seed, n))}
	g.ascii = g.IntN(2) == 0
	topic := topics[n%uint64(len(topics))]
	p := program{topic: topic.name}
	topic.make(g, &p)
	return p
}

// pick returns one of the texts.
func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

// some returns between least and most results of f, joined.
func (g generator) some(least, most int, separator string, f func() string) string {
	list := make([]string, least+g.IntN(most-least+1))
	for i := range list {
		list[i] = f()
	}
	return strings.Join(list, separator)
}

// maybe returns the text, or "".
func (g generator) maybe(text string) string { return g.pick(text, "") }

// add adds n lines, each from one of the templates, in which $x stands for a result of the function with the name x.
func (p *program) add(g generator, n int, parts map[string]func() string, templates ...string) {
	for range n {
		p.lines = append(p.lines, g.fill(g.pick(templates...), parts))
	}
}

// fill replaces each $x in a template.
func (g generator) fill(template string, parts map[string]func() string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "$")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		part := parts[rest[:min(1, len(rest))]]
		if part == nil { // a dollar of JavaScript
			b.WriteString("$")
			template = rest
			continue
		}
		b.WriteString(part())
		template = rest[1:]
	}
}

// text returns a literal of a text, often with characters that are not ASCII.
func (g generator) text() string {
	return g.pick(`"` + g.some(0, 8, "", func() string {
		return g.pick("a", "b", "c", "A", "B", "z", "1", "2", "9", "_", "-", " ", ".", ",", `\n`, "ab", "foo", "x=1",
			`\u00e9`, `e\u0301`, `\u00df`, `\u0130`, `\u03a3`, `\u03c3`,
			`\ud83d\ude00`, `\ud83d`, `\udc00`, `\u212a`, `\u017f`, `\u2028`, `\u00a0`, `\ufeff`, `\ufb01`, `\u1e9b\u0323`,
			`\u4e2d`, `\uac00`, `\u0000`, "%20", "+", "&", "$1", "/", `\\`)
	}) + `"`)
}

// whole returns an expression of a text without lone surrogates.
func (g generator) whole() string { return g.text() + ".toWellFormed()" }

// plain returns a literal of a text of ASCII characters.
func (g generator) plain() string {
	return `"` + g.some(0, 10, "", func() string {
		return g.pick("a", "b", "c", "A", "B", "1", "2", "_", "-", " ", ".", ",", "foo", "bar", "ab", "aa", "bb", "12", `\n`)
	}) + `"`
}

// number returns an expression of a number.
func (g generator) number() string {
	switch g.IntN(8) {
	case 0:
		return g.pick("0", "-0", "NaN", "Infinity", "-Infinity", "1", "-1", "0.5", "1e21", "1e-7", "5e-324", "1.7976931348623157e308",
			"2**53", "2**53+1", "-(2**31)", "2**32", "0.1+0.2", "123456789.123456789", "1.005", "8.345", "1.45", "2.5", "-2.5",
			"1e20", "999999999999999900000", "0.000001", "4.35", "1.255")
	case 1:
		return fmt.Sprintf("%d", g.IntN(20)-5)
	case 2:
		return fmt.Sprintf("%d", g.Int64N(1<<53))
	case 3:
		return fmt.Sprintf("%.*f", 1+g.IntN(10), g.Float64()*1000)
	case 4:
		return fmt.Sprintf("%ve%d", g.Float64()*10, g.IntN(40)-20)
	case 5:
		return fmt.Sprintf("%v", (g.Float64()-0.5)*2e9)
	case 6:
		return fmt.Sprintf("%d.%d5", g.IntN(100), g.IntN(100)) // halves, which toFixed rounds
	default:
		return fmt.Sprintf("%v", g.Float64())
	}
}

// index returns a small whole number, also a negative one.
func (g generator) index() string { return fmt.Sprint(g.IntN(12) - 3) }
