package jsrun

import (
	"fmt"
)

// numbers: their texts, what texts are as numbers, and arithmetic.
func (g generator) numbers(p *program) {
	p.setup = append(p.setup, "const x = "+g.number(), "const y = "+g.number(), fmt.Sprintf("const n = %dn", g.Int64()-1<<61))
	parts := map[string]func() string{
		"n": func() string { return g.pick("x", "y", "("+g.number()+")") },
		"w": func() string { return "Math.max(-(2 ** 62), Math.min(" + g.number() + ", 2 ** 62))" },
		"d": func() string { return fmt.Sprint(g.IntN(22)) },
		"h": func() string { return fmt.Sprint(g.IntN(30) + 60) },
		"r": func() string { return fmt.Sprint(2 + g.IntN(35)) },
		"b": func() string {
			return g.pick("n", "2n", "(-7n)", "0n", fmt.Sprintf("%dn", g.Int64N(1000)), "(1n << 70n)")
		},
		"t": func() string {
			return g.pick(`"12"`, `" 12 "`, `"0x1F"`, `"0b101"`, `"0o17"`, `"1e3"`, `".5"`, `"5."`, `"-1"`, `"+7"`, `"1_000"`,
				`""`, `" "`, `"Infinity"`, `"infinity"`, `"12px"`, `"0x"`, `"1e1000"`, `"\n42 "`, `"\u0661"`, `"--1"`, `"08"`,
				`"null"`, `"1n"`, `"0.1e-5x"`)
		},
		"m": func() string {
			return g.pick("abs", "ceil", "floor", "round", "trunc", "sign", "sqrt", "fround")
		},
	}
	p.add(g, 14, parts, "$n.toFixed($d)", "$n.toFixed($h)", "$n.toPrecision($d)", "$n.toPrecision($h)", "$n.toExponential($d)",
		"$n.toExponential()", "Math.trunc($n % 2 ** 53).toString($r)", "String($n)", "Math.$m($n)", "parseInt($t)", "parseInt($t, $r)",
		"parseFloat($t)", "Number($t)", "+$t", "$n + $t", "$w | 0", "$w >>> 0", "$w << $d", "$w >> $d", "$w & $w", "~$w",
		"$n % $n", "$n ** 2",
		"$n / $n", "$n * $n", "$n - $n", "$n === $n", "$n < $t", "$n == $t", "Number.isInteger($n)", "Number.isSafeInteger($n)",
		"Math.max($n, $n, $t)", "Math.min()", "Math.hypot($n, 3)", "Math.atan2($n, $n) > 0", "Math.imul($w, $w)", "Math.clz32($w)", "Math.round(-0.5)",
		"Object.is($n, -0)", "isNaN($t)", "Number.isNaN($t)", "isFinite($n)", "[$n, $n, $n, 10, 9, 1].sort()", "[$n, $n, 5].sort((a, b) => a - b)",
		"$b + $b", "$b * $b", "$b / $b", "$b % $b", "$b ** 3n", "-$b", "$b << 3n", "$b >> 65n", "$b & $b", "$b | $b",
		"$b ^ $b", "~$b", "$b.toString($r)", "BigInt($t)", "BigInt($n)", "BigInt.asUintN(64, $b)", "BigInt.asIntN(8, $b)",
		"Number(BigInt.asIntN(60, $b))", "$b == $n", "$b > $n", "$b + 1", "typeof $b", "BigInt(Math.trunc($n))", "parseInt(String($b))",
		"$b.toLocaleString()", "(1234567.891).toLocaleString()", "$n.toLocaleString('en-US', { maximumFractionDigits: 2 })",
		"[1, 2, 3].reduce((a, b) => a + b, $n)")
}

// dates: reading, writing and changing them.
func (g generator) dates(p *program) {
	date := func() string {
		switch g.IntN(4) {
		case 0:
			return fmt.Sprintf("new Date(%d)", g.Int64N(8e12)-4e12)
		case 1:
			return fmt.Sprintf("new Date(Date.UTC(%d, %d, %d, %d, %d, %d, %d))", 1900+g.IntN(300), g.IntN(30)-6, g.IntN(60)-10,
				g.IntN(50)-10, g.IntN(80), g.IntN(80), g.IntN(2000))
		case 2:
			return fmt.Sprintf("new Date(%d, %d, %d)", 1900+g.IntN(200), g.IntN(14), g.IntN(40))
		default:
			return g.pick("new Date(NaN)", "new Date(0)", "new Date(-1)", "new Date(8.64e15 + 1)", "new Date(1e12 + 0.9)",
				"new Date(99, 0)", "new Date(2024, 1, 29)", "new Date(null)", "new Date(undefined)")
		}
	}
	text := func() string {
		day := fmt.Sprintf("%04d-%02d-%02d", 1970+g.IntN(100), 1+g.IntN(12), 1+g.IntN(28))
		clock := fmt.Sprintf("%02d:%02d", g.IntN(24), g.IntN(60))
		return `"` + g.pick(day, day+"T"+clock, day+"T"+clock+"Z", day+"T"+clock+":05.123Z", day+"T"+clock+":05+02:00",
			day+" "+clock, day+" "+clock+":07", day[:4], day[:7], day[:8]+"32", day+"T24:00Z", day+"T25:00Z", "2023-02-30",
			"2024/1/5", "1/5/2024", "Jan 5 2024", "5 January 2024 "+clock, "Fri, 05 Jan 2024 "+clock+":09 GMT", "Fri Jan 05 2024 "+clock+":09 GMT+0100",
			"January 5, 2024", "2024-1-5", "hello", "", "12", "2024-01-05T00:00:00.1234567Z", "20240105", "2024-W01", "Tue Mar 01 2022") + `"`
	}
	p.setup = append(p.setup, "const a = "+date(), "const b = "+date(), "const copy = d => new Date(d)")
	parts := map[string]func() string{
		"d": func() string { return g.pick("a", "b", "("+date()+")") },
		"t": text,
		"n": func() string { return fmt.Sprint(g.IntN(80) - 20) },
		"s": func() string {
			return g.pick("Month", "Date", "Hours", "Minutes", "Seconds", "UTCMonth", "UTCDate", "UTCHours", "UTCMinutes", "UTCSeconds")
		},
		"f": func() string {
			return g.pick("FullYear", "Month", "Date", "Hours", "Minutes", "Seconds", "Milliseconds", "UTCFullYear", "UTCMonth",
				"UTCDate", "UTCHours", "UTCMinutes", "UTCSeconds", "UTCMilliseconds")
		},
	}
	p.add(g, 14, parts, "$d.toISOString()", "$d.toJSON()", "$d.getTime()", "$d.get$f()", "$d.getDay()", "$d.getUTCDay()",
		"(d => (d.set$s($n), d))(copy($d))", "(d => d.set$s($n, $n))(copy($d))", "$d.toString().slice(0, 33)", "$d.toDateString()",
		"$d.toTimeString().slice(0, 17)", "$d.toUTCString()", "Date.parse($t)", "new Date($t)", "new Date($t).toISOString()",
		"Date.parse($t)", "new Date($t)", "JSON.stringify({ d: $d })", "$d - $d", "$d > $d",
		"$d[Symbol.toPrimitive]('number')", "$d.valueOf()", "Date.UTC(2024)", "Date.UTC(2024, $n, $n, $n)", "new Date(2024, $n, $n, $n).getTime()",
		"new Date($d).getTimezoneOffset()", "(d => (d.setMilliseconds($n), d))(new Date(2001, 2, 3))", "(d => (d.setTime($n * 1e10), d))(copy($d))",
		"(d => (d.setDate(d.getDate() + $n), d.toISOString()))(copy($d))", "$d.toLocaleDateString('en-US', { timeZone: 'UTC' })",
		"$d.toLocaleTimeString('en-US', { timeZone: 'UTC' })", "$d.toLocaleString('en-US', { timeZone: 'America/New_York', dateStyle: 'medium', timeStyle: 'short' })",
		"$d.toLocaleDateString('en-US', { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric', timeZone: 'Asia/Tokyo' })")
}

// value returns an expression of a value that JSON may have, or not quite.
func (g generator) value(depth int) string {
	if depth > 0 {
		switch g.IntN(5) {
		case 0:
			return "[" + g.some(0, 4, ", ", func() string { return g.value(depth - 1) }) + "]"
		case 1, 2:
			return "{ " + g.some(0, 4, ", ", func() string {
				return g.pick("a", "b", "c", "10", "2", `"x y"`, `"__proto__x"`, `"\u2028"`) + ": " + g.value(depth-1)
			}) + " }"
		}
	}
	return g.pick("null", "true", "false", "undefined", g.number(), g.whole(), "() => 1", `Symbol("s")`, "new Date(0)",
		"new Date(NaN)", "/x/g", "new Map([[1, 2]])", "new Set([1])", "new Number(3)", `new String("s")`, "new Boolean(false)",
		"{ toJSON: k => 'json ' + k }", "[,1]", "new Uint8Array([1, 2])", "Object.create({ inherited: 1 })", "new Error('own')",
		"-0", "NaN", "1e400", "{ get g () { return 7 } }", "Buffer.from('a')", "Object.assign([1], { extra: 2 })", "'\\u007f\\u0080'",
		"{ undefined }")
}

// json: JSON.stringify and JSON.parse with all their arguments.
func (g generator) json(p *program) {
	p.setup = append(p.setup, "const v = "+g.value(3), "const w = "+g.value(2))
	document := func() string {
		return "'" + g.pick(`{"a":1,"a":2}`, `[1,2,{"b":[]}]`, ` {"x" : "\\u0041\\n"} `, `"text"`, `12e2`, `-0`, `01`,
			`[1,]`, `{"a":}`, `nul`, `true`, ``, `{"__proto__":{"x":1}}`, `"\u2028"`, `{a:1}`, `1 2`, `[[[[1]]]]`, `{"10":1,"2":2,"b":3}`,
			`"tab	"`, `123456789012345678901`, `.5`, `5.`, `+1`, `1E+2`, `"\\x41"`, `{"a":1}x`, `[null,false]`, `{"":0}`) + "'"
	}
	parts := map[string]func() string{
		"v": func() string { return g.pick("v", "w", "[v, w]", "{ v, w }", "("+g.value(2)+")") },
		"r": func() string {
			return g.pick("null", "['a', 'b', 2]", "['x y', 'a', 'a']", "(k, x) => typeof x === 'number' ? x + 1 : x", "function (k, x) { return Array.isArray(this) ? 'in list' : x }",
				"(k, x) => k === 'a' ? undefined : x", "[new String('a'), 10]", "(k, x) => x instanceof Map ? [...x] : x")
		},
		"s": func() string {
			return g.pick("2", "'--'", "'\\t'", "0", "20", "'0123456789abc'", "new Number(1)", "true")
		},
		"d": document,
		"f": func() string {
			return g.pick("(k, x) => typeof x === 'number' ? x * 2 : x", "(k, x) => k === 'a' ? undefined : x", "(k, x) => Array.isArray(x) ? x.length : x",
				"function (k, x) { return k === '' ? [x, Object.keys(this)] : x }", "(k, x) => k && x === null ? 'null!' : x")
		},
	}
	p.add(g, 12, parts, "JSON.stringify($v)", "JSON.stringify($v, $r)", "JSON.stringify($v, null, $s)", "JSON.stringify($v, $r, $s)",
		"JSON.parse($d)", "JSON.parse($d, $f)", "JSON.parse(JSON.stringify($v) ?? 'null')", "JSON.parse(JSON.stringify($v) ?? 'null', $f)",
		"structuredClone($v)", "(o => { o.self = o; return JSON.stringify(o) })({})", "JSON.stringify({ n: 1n })", "JSON.stringify(Object.create(null))",
		"JSON.stringify(new Proxy({ a: 1 }, {}))", "JSON.stringify([new Proxy([1], {})])", "JSON.stringify('\\u2028\\ud83d')",
		"JSON.stringify({ [Symbol('k')]: 1, a: [undefined] })", "Object.keys(JSON.parse($d))", "require('util').isDeepStrictEqual(JSON.parse($d), JSON.parse($d))",
		"JSON.stringify(JSON.parse($d), null, 1)", "JSON.stringify($d)", "String(JSON)")
}

// collections: lists, objects, Map, Set, iterators.
func (g generator) collections(p *program) {
	list := func() string {
		return "[" + g.some(0, 7, ", ", func() string {
			return g.pick("1", "2", "3", "10", "-1", "'a'", "'b'", "'B'", "null", "undefined", "NaN", "[1, [2, [3]]]", "{ k: 1 }", "0", "-0", "true")
		}) + "]"
	}
	p.setup = append(p.setup, "const a = "+list(), "const b = "+list(), "const o = { b: 1, a: 2, 10: 3, 9: 4, [Symbol.for('s')]: 5, get g () { return this.a } }",
		"const m = new Map(a.map((x, i) => [x, i]))", "const s = new Set(a)", "const c = x => [...x]")
	parts := map[string]func() string{
		"a": func() string { return g.pick("a", "b", "[...a, ...b]", list(), "[3, , 1]", "Array(3)") },
		"l": list, "i": g.index,
		"v": func() string { return g.pick("1", "NaN", "'a'", "undefined", "null") },
		"f": func() string {
			return g.pick("x => x", "(x, i) => i % 2", "x => typeof x", "x => x == null", "(x, i, l) => l.length - i", "x => x > 1",
				"x => [x, x]", "String", "Boolean", "isNaN")
		},
	}
	p.add(g, 14, parts, "$a.map($f)", "$a.filter($f)", "$l.find($f)", "$l.findIndex($f)", "$l.findLast($f)", "$l.findLastIndex($f)",
		"$a.some($f)", "$a.every($f)", "$a.flatMap($f)", "$a.flat($i)", "$a.flat(Infinity)", "$a.reduce((r, x) => r + '|' + x, '')",
		"$a.reduceRight((r, x) => r + '|' + x)", "c($a).sort()", "$a.toSorted()", "c($a).sort((x, y) => String(x).length - String(y).length)",
		"c($a).reverse()", "$a.toReversed()", "$a.with($i, 'w')", "$a.toSpliced($i, 1, 'n', 'm')", "$a.slice($i, $i)",
		"(l => [l.splice($i, $i, 'x'), l])(c($a))", "c($a).copyWithin($i, $i, $i)", "c($a).fill('f', $i, $i)", "$a.at($i)",
		"$a.indexOf($v)", "$a.lastIndexOf($v)", "$a.includes($v)", "$a.join($v)", "$a.concat($a, 1, [2])", "$a.keys().next()",
		"[...$a.entries()]", "Array.from($a, $f)", "Array.from({ length: 3, 1: 'x' })", "Array.of(7, $v)", "Array.isArray($a)",
		"$a.length", "String($a)", "(l => { l.length = 1; return l })(c($a))", "Object.entries($a)", "(l => { delete l[1]; return [l, 1 in l, l.length] })(c($a))",
		"(l => { l[5] = 1; return l })(c($a))", "$a.toString()", "Object.keys(o)", "Object.entries({ ...o })", "Object.values(o)",
		"Object.assign({}, o, $a)", "Object.getOwnPropertyNames(o)", "Reflect.ownKeys(o)", "Object.fromEntries(m)", "Object.getOwnPropertyDescriptor(o, 'g')",
		"structuredClone({ a: $a, m, s })",
		"m", "s", "[m.size, m.get($v), m.has($v), m.delete($v)]", "[...m.keys()]", "[...s].map($f)", "(t => { t.add($v).add($v); return t })(new Set(s))",
		"(r => { m.forEach((x, k) => r.push([k, x])); return r })([])", "new Map([...m].reverse())", "(({ a, ...rest }) => [a, rest])(o)",
		"(([x, , ...rest]) => [x, rest])($a)", "(([x = 'default', y = x]) => [x, y])($a)", "[...(function * () { yield * $a; return 1 })()]",
		"(it => [it.next(), it.return(5), it.next()])((function * () { try { yield 1; yield 2 } finally { yield 'f' } })())",
		"Object.is($v, $v)", "$v == $a", "[$a == $a, typeof $a, $a + '']", "Object.freeze(c($a)).push(1)", "((...args) => args.length)(...$a)",
		"Math.max(...$a)", "require('util').inspect($a)", "require('util').inspect(o)", "require('util').format('%s %d %j', $v, $v, $a)",
		"require('util').inspect(m)", "new WeakMap([[o, 1]]).get(o)", "Symbol.for('s') in o", "Object.hasOwn(o, 'g')",
		"Array.prototype.map.call('abc', $f)", "[].concat(...$a)")
}
