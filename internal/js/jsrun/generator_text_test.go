package jsrun

import (
	"fmt"
	"slices"
	"strings"
)

// patterns: regular expressions made at run time, and what they find, replace and split.
func (g generator) patterns(p *program) {
	for i := range 3 {
		flags := g.pick("", "g", "i", "m", "s", "y", "gi", "gu", "u", "iu", "v", "gv", "gy", "su", "my")
		mode := ""
		if strings.ContainsAny(flags, "uv") {
			mode = flags[len(flags)-1:]
		}
		pattern := g.pattern(mode, 3, true)
		p.setup = append(p.setup,
			fmt.Sprintf("let r%d; try { r%d = new RegExp(String.raw`%s`, '%s') } catch (e) { r%d = /never/; out.push(e.name) }", i, i, strings.ReplaceAll(pattern, "`", ""), flags, i),
			fmt.Sprintf("const s%d = %s", i, g.subject()))
	}
	parts := map[string]func() string{
		"r": func() string { return g.pick("r0", "r1", "r2") },
		"s": func() string { return g.pick("s0", "s1", "s2", "s0 + s1") },
		"g": func() string {
			r := g.pick("r0", "r1", "r2")
			return fmt.Sprintf("new RegExp(%s.source, %s.flags.replace('g', '').replace('y', '') + 'g')", r, r)
		},
		"w": func() string {
			return g.pick(`"-"`, `"[$&]"`, `"$1"`, `"$<n>"`, `"$$"`, `"$2$1"`, "\"$`|$'\"", `"$01"`, `""`, "(...all) => show(all.slice(0, -1))", `m => "<" + m.length + ">"`, "(m, a) => a === undefined ? 'none' : a")
		},
		"l": func() string { return g.pick("", ", 2", ", 0", ", -1") },
	}
	p.add(g, 9, parts, "$r.exec($s)", "$r.test($s)", "$s.match($r)", "[...$s.matchAll($g)]", "$s.replace($r, $w)", "$s.replaceAll($g, $w)",
		"$s.split($r$l)", "$s.search($r)", "[$r.source, $r.flags, String($r)]", "[$r.exec($s), $r.exec($s)]", "(r => { r.lastIndex = 2; return [r.exec($s), r.lastIndex] })($r)",
		"(r => [r.global, r.sticky, r.unicode, r.ignoreCase, r.multiline, r.dotAll])($r)", "new RegExp($r, 'g')", "RegExp($r) === $r", "$s.match($g)")
	p.add(g, 3, nil, `"foo".replace(/o*/g, "-")`, `"a\u00e9a".replace(/a(?<! )/u, "x")`, `"\u00e9t".replace(/\bt/g, "T")`,
		`"1234567".replace(/\B(?=(\d{3})+(?!\d))/g, ",")`, `"abb".match(/[a-z]*/g)`, `[/\b/.source, String(/\bx*/gy), /\bx/.test("\u00e9x")]`,
		`[0, 1].map(i => { const r = /\bx/g; r.lastIndex += 3; return r.lastIndex })`)
	p.add(g, 2, nil, `"2024-01-15".replace(/(?<y>\d+)-(?<m>\d+)/, "$<m>/$<y>")`, `"aBc".replace(/[A-Z]/g, c => "_" + c.toLowerCase())`,
		`/(?<=\$)\d+(?!\d|%)/.exec("$42% $7")`, `"a1b22".match(/\p{L}|\p{Nd}+/gu)`,
		`"x".replace(/(y)?x/, "[$1]")`, `"aaa".lastIndexOf("a", 1)`, `/^(?:a+)+$/.test("aaaa")`, `"\u{1F600}x".split("")`,
		`"\u{1F600}x".split(/(?:)/u)`, `/[^]/.exec("\n")`, `/\cJ/.test("\n")`, `/a{,2}/.exec("a{,2}")`, `/]/.exec("]")`)
}

// pattern returns a pattern. mode is "u" or "v" for patterns with such a flag. A group with a quantifier has no other one
// inside, because both engines may take forever for those, and matches something. A lookbehind has one character.
func (g generator) pattern(mode string, depth int, quantified bool) string {
	return g.some(1, 3, "", func() string {
		if depth > 0 && quantified && g.IntN(3) == 0 {
			inner := g.pattern(mode, depth-1, quantified)
			switch g.IntN(9) {
			case 0:
				return "(" + g.pattern(mode, depth-1, false) + ")" + g.quantifier(quantified)
			case 1:
				return "(?:" + g.pattern(mode, depth-1, false) + "|" + g.pattern(mode, depth-1, false) + ")" + g.quantifier(quantified)
			case 2:
				return "(?=" + inner + ")"
			case 3:
				if !g.ascii { // Node.js may find an empty match in the middle of a pair of surrogates
					return inner
				}
				return "(?!" + inner + ")"
			case 4:
				return "(?<=" + g.atom(mode) + ")"
			case 5:
				if !g.ascii && mode != "" { // as above
					return inner
				}
				return "(?<!" + g.atom(mode) + ")"
			case 6:
				if depth == 3 {
					return "(?<n>" + inner + ")" + g.maybe(`\k<n>`)
				}
				return "(" + inner + ")"
			case 7:
				return "(" + inner + `)(?:\1)`
			default:
				return g.pick(`\b`, `\B`, "^", "$")
			}
		}
		return g.atom(mode) + g.quantifier(quantified)
	})
}

func (g generator) quantifier(allowed bool) string {
	if !allowed {
		return ""
	}
	return g.pick("", "", "", "", "*", "+", "?", "{2}", "{1,2}", "{1,}", "*?", "+?", "??")
}

func (g generator) atom(mode string) string {
	list := []string{"a", "b", "c", "1", "_", " ", "-", ".", `\d`, `\w`, `\s`, `\D`, `\W`, `\S`, "[abc]", "[^a-c]",
		`[\w-]`, "[a-z]", `[^\s]`, "foo", `\.`, `\u00e9`, "[\u00e0-\u00fc]", `\x41`, `\t`, "[^]", `[\d.]`}
	if mode == "v" { // Node.js 20 takes [^] for nothing
		list = slices.DeleteFunc(list, func(s string) bool { return s == "[^]" })
	}
	switch mode {
	case "u":
		list = append(list, `\p{L}`, `\p{Lu}`, `\P{L}`, `\p{Script=Greek}`, `\u{1F600}`, `[\p{L}\d]`, `[^\p{L}]`, `\p{Nd}`,
			`[\u{1F600}-\u{1F64F}]`, `\p{Emoji_Presentation}`, `\p{ASCII}`)
	case "v":
		list = append(list, `\p{L}`, `[\p{L}--[a-z]]`, `[[a-z]&&[aeiou]]`, `[\w--\d]`, `[\q{ab|c}]`, `[^\d]`, `[\p{Lu}[0-9]]`, `\p{ASCII}`)
	}
	return g.pick(list...)
}

// subject returns a literal of a text in which patterns find something.
func (g generator) subject() string {
	return `"` + g.some(1, 9, "", func() string {
		return g.pick("a", "b", "c", "aa", "ab", "foo", "A", "B", "1", "12", "_", " ", "-", ".", `\n`, "x", g.beyond(`\u00e9`),
			g.beyond(`\u03b1`), g.beyond(`\ud83d\ude00`))
	}) + `"`
}

// beyond returns the text, or another one if it should have only ASCII characters.
func (g generator) beyond(text string) string {
	if g.ascii {
		return "c"
	}
	return text
}

// texts: methods of texts, and functions that encode them.
func (g generator) texts(p *program) {
	p.setup = append(p.setup, "const a = "+g.text(), "const b = "+g.text(), "const c = "+g.text())
	parts := map[string]func() string{
		"t": func() string { return g.pick("a", "b", "c", "a + b", g.text(), g.plain()) },
		"i": g.index,
		"f": func() string { return g.pick(`"NFC"`, `"NFD"`, `"NFKC"`, `"NFKD"`, "") },
		"n": func() string { return fmt.Sprint(g.IntN(12)) },
	}
	p.add(g, 14, parts, "($t).toWellFormed().normalize($f)", "$t.split($t)", "$t.split('')", "[...$t]", "$t.slice($i, $i)",
		"$t.substring($i, $i)", "$t.substr($i, $i)", "$t.at($i)", "$t.charCodeAt($i)", "$t.codePointAt($i)",
		"$t.indexOf($t, $i)", "$t.lastIndexOf($t)", "$t.includes($t)", "$t.startsWith($t, $i)", "$t.endsWith($t)", "$t.padStart($n, $t)",
		"$t.padEnd($n, 'xy')", "$t.repeat($n % 4)", "($t).toWellFormed().toUpperCase()", "($t).toWellFormed().toLowerCase()",
		"($t).toWellFormed().trim()", "$t.trimStart().length", "$t.trimEnd().length", "$t.isWellFormed()", "$t.toWellFormed()",
		"encodeURIComponent($t)", "encodeURI($t)", "decodeURIComponent(($t).toWellFormed())", "decodeURI(($t).toWellFormed())",
		"escape($t)", "unescape(escape($t))", "$t < $t", "$t.concat($t, 1, null)",
		"[$t, $t, $t, 'B', 'a', 'C'].sort()", "$t.replaceAll('a', '[$$&]')", "$t.replaceAll($t, '[$$&]')", "$t.replaceAll('', '-')", "$t.replace($t, x => x.length)", "String.raw`a${$n}\\n`",
		"String.fromCodePoint($n, 0x1f600 + $n)", "String.fromCharCode(65 + $n, 0xd800)", "$t == $t", "$t.localeCompare($t) === 0",
		"JSON.stringify($t)",
		"Array.from($t, c => c.codePointAt(0))", "$t.match(/[^]/gu)", "parseInt($t)", "Number($t)", "$t.length", "Object.keys($t)",
		"btoa(encodeURIComponent($t))", "[...$t].reverse().join('')", "`${$t}|${[$t, [1, null]]}|${{}}`", "$t.split(/(\\W)/)",
		"$t.search(/\\d/)")
	p.add(g, 2, nil, "'a'.localeCompare('b')", "['b', 'a', 'B', 'A', '\\u00e4', 'z'].sort((x, y) => x.localeCompare(y))",
		"['item 10', 'item 9', 'Item 1'].sort(new Intl.Collator('en', { numeric: true }).compare)", "'\\u0130'.toLowerCase().length",
		"'\\u03a3'.toLowerCase() + '\\u0391\\u03a3'.toLowerCase()", "'\\u00df'.toUpperCase()", "'\\ufb01'.toUpperCase()")
}

// bytes: Buffer, typed arrays, and encodings.
func (g generator) bytes(p *program) {
	p.setup = append(p.setup, "const a = Buffer.from("+g.text()+")", "const b = Buffer.from(["+g.some(0, 9, ", ", func() string { return fmt.Sprint(g.IntN(300) - 20) })+"])",
		"const z = Buffer.alloc(8)")
	parts := map[string]func() string{
		"b": func() string { return g.pick("a", "b", "Buffer.from("+g.text()+")", "Buffer.concat([a, b])") },
		"t": g.text, "i": g.index,
		"e": func() string {
			return g.pick(`"utf8"`, `"utf-8"`, `"hex"`, `"base64"`, `"base64url"`, `"latin1"`, `"binary"`, `"ascii"`, `"utf16le"`, `"ucs2"`)
		},
		"s": func() string {
			return g.pick(`"aGVsbG8="`, `"aGVsbG8"`, `"68656c6c6f"`, `"zz"`, `"_-8="`, `"abc"`, `"f"`)
		},
		"n": g.number,
		"w": func() string { return "Math.max(-(2 ** 62), Math.min(" + g.number() + ", 2 ** 62))" },
		"c": func() string { return g.pick(`"utf8"`, `"hex"`, `"latin1"`, `"utf16le"`) },
		"l": func() string {
			return g.pick("Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint32Array", "Float32Array", "Float64Array")
		},
	}
	p.add(g, 12, parts, "$b.toString($e)", "Buffer.from($s, $e)", "Buffer.from($t, $c)", "Buffer.byteLength($t)", "$b.slice($i, $i)",
		"$b.subarray($i).toString($e)", "$b.equals($b)", "Buffer.compare($b, $b)", "$b.indexOf($t)", "$b.indexOf($i)",
		"$b.includes($b)", "$b.toJSON()",
		"Buffer.alloc(5, $t)", "Buffer.concat([$b, $b], 6)", "Buffer.from($b).fill($t, 1)", "Buffer.from($b).reverse()",
		"$b.length", "[...$b.entries()].length", "$b.readUInt8(0)", "$b.readUInt16LE(0)", "$b.readInt32BE(0)", "$b.readDoubleLE(0)",
		"z.writeInt16BE(-300) + z.toString('hex')", "z.writeDoubleBE($n || 0) + z.toString('hex')", "z.writeFloatLE($n || 0) + z.toString('hex')",
		"z.writeUIntBE(0x123456, 1, 3) + z.toString('hex')", "z.readUIntLE(1, 3)", "z.writeBigInt64LE(-5n) + z.toString('hex')",
		"z.readBigUInt64BE()", "$b.swap16()", "z.write($t, 2) + z.toString('hex')",
		"Buffer.isEncoding($e)", "Buffer.isBuffer($b)", "new TextEncoder().encode($t)", "new TextDecoder().decode($b)",
		"new TextDecoder('utf-16le').decode($b)", "new TextDecoder('utf-8', { fatal: true }).decode($b)", "new TextDecoder('latin1').decode($b)",
		"new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.from('\\ufeffa'))",
		"new $l([$w, $w, $w])", "$l.from([$w, '3', null])", "new $l(4).fill($w).map(x => x + 1)", "new $l([3, 1, 2, 10]).sort()",
		"new $l([1, 2, 3]).subarray($i).join('-')", "new DataView(new ArrayBuffer(8)).getFloat64(0)", "(d => { d.setFloat32(0, $n); return d.getUint32(0) })(new DataView(new ArrayBuffer(4)))",
		"new Uint8Array(a.buffer, a.byteOffset, Math.min(2, a.length))",
		"atob(btoa('abc' + a.length))", "atob($s)", "btoa($t)", "structuredClone(new Uint8Array($b))", "a.readUInt8(100)",
		"Buffer.from([1, 2, 3]).readUIntBE(0, 3)", "Buffer.from('a').compare(Buffer.from('b'))", "$b.at($i)", "Buffer.from(new Uint16Array([1, 256]).buffer)",
		"Buffer.from({ length: 2, 0: 7, 1: 8 })", "$b.copy(z, 1) + z.toString('hex')", "$b.lastIndexOf(97)", "String(Buffer.from($t).subarray(0, 3))")
}

// urls: URL and URLSearchParams.
func (g generator) urls(p *program) {
	address := func() string {
		scheme := g.pick("http:", "https:", "HTTP:", "ftp:", "file:", "")
		slashes := g.pick("//", "//", "//", "/", "", `\\\\`)
		host := g.pick("example.com", "EXAMPLE.com", "user:pa%20ss@example.com", "example.com:80", "example.com:443",
			"example.com:8080", "localhost", "127.0.0.1", "0x7f.1", "[::1]", "[1:2:0:0::3]", "b\u00fccher.example", "xn--bcher-kva.example",
			"a b", "256.1.1.1", "", "1.2.3", "example.com.")
		if scheme == "file:" && strings.Contains(host, "@") {
			host = ""
		}
		path := g.pick("", "/", "/a/b", "/a/../b/./c", "/%7Ea/b%2Fc", "/a b", "/\u00e9", `/a\\b`, "//a", "/a;b=c", "/%zz", "/..", "/C|/x", "a,b")
		rest := g.pick("", "?a=1&b=2", "?q=\u00e9 x'", "?a=%41&a", "#", "#f", "#f \u00e9`", "?x#y?z", "?<>\\\"")
		return `"` + strings.ReplaceAll(scheme+slashes+host+path+rest, "`", "") + `"`
	}
	relative := func() string {
		return g.pick(`"../x"`, `"/y"`, `"?q"`, `"#f"`, `""`, `"//h/p"`, `"a/b/../c"`, `"."`, `".."`, `"x:y"`, `"http:z"`,
			`"  x  "`, `"\t/a\n"`, `"./a:b"`, `"%2e%2E/x"`)
	}
	value := func() string {
		return g.pick(g.plain(), `"a b"`, `"x&y=z"`, `"8080"`, `"new.example:81"`, `"/p?q#r"`, `""`)
	}
	p.setup = []string{
		"const make = (...list) => { for (const s of list) if (URL.canParse(s) && /^https?:$/.test(new URL(s).protocol)) return new URL(s); return new URL('http://example.com/a/b?c=d#e') }",
		"const all = u => [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash]",
		"const u0 = make(" + address() + ", " + address() + ")", "const u1 = make(" + address() + ")", "const q = new URLSearchParams(" + g.pick(`"a=1&b=2&a=3"`,
			`"?x=%20y+z&&=v&w"`, `{ k: "v w", n: 1 }`, `[["a", "b"], ["c", "d"]]`, value()) + ")",
	}
	parts := map[string]func() string{
		"a": address, "r": relative, "v": value, "u": func() string { return g.pick("u0", "u1") },
		"k": func() string { return g.pick(`"a"`, `"b"`, `"x"`, `"k"`) }, "p": func() string {
			return g.pick(`"8080"`,
				`""`, `"80"`, `"443"`, `"12x"`, `99999`)
		},
	}
	p.add(g, 10, parts, "all(new URL($a))", "all(new URL($r, $a))", "all(new URL($r, $u))", "URL.canParse($r, $a)",
		"($u.search = $v, all($u))", "($u.hash = $v, $u.href)", "($u.pathname = $v, $u.href)", "($u.port = $p, $u.href)",
		"($u.host = $v, $u.href)", "($u.hostname = $v, $u.href)", "($u.protocol = 'https', $u.href)", "($u.username = $v, $u.href)",
		"($u.searchParams.append($k, $v), $u.href)", "JSON.stringify({ u: $u })", "[...$u.searchParams]", "String(q)",
		"(q.set($k, $v), String(q))", "(q.append($k, $v), [...q])", "(q.delete($k), q.toString())", "q.getAll($k)", "q.get($k)",
		"q.has($k)", "(q.sort(), String(q))", "[...q.keys()].join()", "q.size",
		"new URLSearchParams($v).toString()", "Object.fromEntries(q)", "require('querystring').parse($v)", "require('querystring').stringify({ a: $v, b: [1, $v] })",
		"require('path').join($r, $v)", "require('path').resolve('/r', $r)", "require('path').basename($a)", "require('path').relative('/a/b', '/a/' + $r)",
		"require('path').parse($a).ext")
}
