package jsrun

import (
	"fmt"
)

// errors: errors of a program itself, what is caught, and in which order things end.
func (g generator) errors(p *program) {
	class := g.pick("Error", "TypeError", "RangeError", "SyntaxError")
	p.setup = append(p.setup,
		"class A extends "+class+" { constructor (m, o) { super('own ' + m, o); "+g.pick("this.name = 'A'", "this.code = 7", "")+" } }",
		"class B extends A { "+g.pick("get name () { return 'Bee' }", "toString () { return 'own text' }", "static make () { return new this('made') }",
			"")+" }",
		"function Old (m) { this.message = 'own ' + m } Old.prototype = Object.create(Error.prototype, { constructor: { value: Old }, name: { value: 'Old' } })",
		"const log = []", "const fail = (e, v) => { log.push(v); throw e }")
	parts := map[string]func() string{
		"e": func() string {
			return g.pick("new A('x')", "new B('y', { cause: 1 })", "new Error('own z')", "new Old('o')", "'own text'", "{ message: 'own m' }",
				"null", "undefined", "new AggregateError([new Error('own 1'), 2], 'own all')", "Object.assign(new Error('own c'), { code: 'E' })",
				"Error('own f')", "new B()", "new RangeError('own r', { cause: new A('in') })")
		},
		"k": func() string {
			return g.pick("A", "B", "Error", "Old", "TypeError", "RangeError", "Object", "AggregateError")
		},
		"v": func() string { return fmt.Sprint(g.IntN(5)) },
		"b": func() string {
			return g.pick("null.x", "undefined()", "missing", "[].reduce((a, b) => a)", "new Array(-1)", "'x'.repeat(-1)",
				"(1).toFixed(101)", "Symbol() + ''", "1n + 1", "JSON.parse('{')", "decodeURIComponent('%')", "new (class { #p; static f (o) { return o.#p } }).constructor.f({})",
				"Object.defineProperty(Object.freeze({}), 'a', {})", "new Proxy({}, null)", "BigInt(1.5)", "(() => { 'use strict'; Object.freeze([]).push(1) })()",
				"new (() => {})()", "class_", "[...1]", "({}).x.y", "new Intl.NumberFormat('en', { style: 'currency' })", "structuredClone(() => {})",
				"new URL('x')", "atob('*')", "new RegExp('(')", "'a'.normalize('x')", "new Date(NaN).toISOString()", "'x' in 'y'",
				"1 instanceof 1", "Reflect.construct(1)")
		},
	}
	p.add(g, 12, parts, "(() => { throw $e })()", "$e", "String($e)", "$e instanceof $k", "(() => { try { throw $e } catch (e) { return ['caught', e] } finally { log.push($v) } })()",
		"(() => { try { return $v } finally { log.push('f') } })()", "(() => { try { throw $e } finally { return $v } })()",
		"(() => { for (const i of [1, 2, 3]) { try { if (i === 2) continue; log.push(i) } finally { log.push('f' + i) } } return log.length })()",
		"(async () => { try { await fail($e, $v) } catch (e) { return e } })()", "Promise.reject($e)", "Promise.reject($e).catch(e => ['c', e])",
		"Promise.reject($e).finally(() => $v)", "Promise.resolve($v).then(() => { throw $e })", "Promise.all([1, Promise.reject($e)])",
		"Promise.any([Promise.reject($e), Promise.reject($v)])", "Promise.allSettled([$v, Promise.reject($e)])",
		"Object.prototype.toString.call($e)", "Object.keys($e ?? {})", "JSON.stringify($e)", "($e)?.name", "($e)?.message",
		"(e => e && Object.getOwnPropertyNames(e).filter(k => k !== 'stack').sort())($e)", "$b", "(() => { try { return $b } catch (e) { return [e.name, e instanceof $k, e.constructor === $k] } })()",
		"(() => { try { return $b } catch ({ name }) { return name } })()", "String(($e)?.stack).split('\\n')[0].startsWith(($e)?.name)",
		"A.name + A.length + new A('q').constructor.name", "Object.getPrototypeOf(B) === A", "(() => { try { try { throw $e } catch (e) { throw new A('outer', { cause: e }) } } catch (e) { return e } })()",
		"log", "require('assert').deepStrictEqual([$v], [$v])", "(() => { label: for (;;) { try { break label } finally { log.push('l') } } return log.at(-1) })()",
		"'cause' in new Error('own', {})", "new Error('own', { cause: undefined })", "new Error(undefined).hasOwnProperty('message')",
		"Error.prototype.toString.call({ name: 'N', message: 'own' })", "require('util').inspect(Object.assign(new A('i'), { stack: 'own stack' }))")
}

// order: the order in which promises, microtasks, timers and events come. All timers have the same time: of two others,
// Node.js may take the later one first if it is late.
func (g generator) order(p *program) {
	p.setup = append(p.setup, "const log = []", "const say = x => { log.push(x); return x }", "const ms = 10", "const sleep = v => new Promise(r => setTimeout(r, ms, v))")
	id := 0
	name := func() string { id++; return fmt.Sprintf("'%d'", id) }
	var task func(depth int, timers bool) string
	task = func(depth int, timers bool) string { // a timer starts no other: when that ends would depend on the machine
		within := func(timers bool) string {
			if depth == 0 {
				return "say(" + name() + ")"
			}
			return task(depth-1, timers)
		}
		inner := func() string { return within(timers) }
		later := g.pick("(async () => 3)()", "Promise.resolve(4)")
		if timers {
			later = g.pick(later, "sleep(5)")
		}
		switch g.IntN(11) {
		case 0:
			return "queueMicrotask(() => { say(" + name() + "); " + inner() + " })"
		case 1:
			if !timers {
				return inner()
			}
			return fmt.Sprintf("setTimeout(() => { say(%s); %s }, ms)", name(), within(false))
		case 2:
			return "Promise.resolve(" + name() + ").then(say).then(() => { " + inner() + " })"
		case 3:
			return "(async () => { say(" + name() + "); await " + g.pick("null", "Promise.resolve()", "{ then (f) { say('then'); f() } }",
				"(async () => {})()") + "; say(" + name() + "); " + inner() + " })()"
		case 4:
			return "new Promise(r => { say(" + name() + "); r(" + g.pick("1", "Promise.resolve(2)", "{ then: f => f(3) }") + ") }).then(() => say(" + name() + "))"
		case 5:
			return "Promise.reject(" + name() + ").then(say, e => say('rejected ' + e)).finally(() => { " + inner() + " })"
		case 6:
			return "Promise." + g.pick("all", "allSettled", "race", "any") + "([Promise.resolve(1), " + g.pick("2", later) + "]).then(v => say(show(v)))"
		case 7:
			return "(async () => { for (const x of [" + name() + ", " + name() + "]) { await x; say(x) } })()"
		case 8:
			return "(async () => { try { await Promise.reject(" + name() + ") } catch (e) { say(e) } finally { say(" + name() + ") } return 1 })().then(() => { " + inner() + " })"
		case 9:
			return "(e => { e.on('x', v => say('on ' + v)); e.once('x', v => say('once ' + v)); e.emit('x', " + name() + "); e.emit('x', " + name() + "); say(e.listenerCount('x')) })(new (require('events'))())"
		default:
			return "(t => { t.addEventListener('x', e => say(e.type), { once: true }); t.dispatchEvent(new Event('x')); t.dispatchEvent(new Event('x')); " + inner() + " })(new EventTarget())"
		}
	}
	for range 3 + g.IntN(3) {
		p.setup = append(p.setup, task(2, true))
	}
	p.lines = append(p.lines, "log.slice()", "await null, log.slice()", "(await sleep(), await sleep(), log)")
	p.add(g, 4, map[string]func() string{"v": name}, "await Promise.all([sleep($v), $v, sleep($v)])", "await Promise.race([new Promise(() => {}), sleep($v)])",
		"await Promise.any([Promise.reject($v), sleep($v)])", "(await Promise.allSettled([Promise.reject($v), $v])).map(x => x.status)",
		"await { then: f => f($v) }", "await (async () => { const c = new AbortController(); c.signal.addEventListener('abort', () => say('abort')); c.abort($v); return [c.signal.aborted, c.signal.reason, log.at(-1)] })()",
		"await new Promise(r => { let n = 0; const t = setInterval(() => { if (++n === 3) { clearInterval(t); r(n) } }, 1) })",
		"await require('util').promisify((x, f) => f(null, x))($v)", "await new Promise((r, j) => { r($v); j(1); r(2) })",
		"await require('timers/promises').setTimeout(1, $v)", "clearTimeout(undefined)", "await require('events').once(Object.assign(new (require('events'))(), { init () { setTimeout(() => this.emit('e', $v), 1); return this } }).init(), 'e')",
		"await (async () => [await 1, await (await (async () => 2)())])()", "await Promise.resolve().then(2).then(v => v)",
		"await new Promise(r => setTimeout((...a) => r(a), 1, $v, 2))")
}

// classes: classes, closures, destructuring, proxies, tagged templates and other parts of the language.
func (g generator) classes(p *program) {
	p.setup = append(p.setup,
		"class A { static count = 0; static { A.count = "+g.index()+" } #p = "+g.number()+"; x = "+g.pick("1", "this.#p",
			"'f'")+"; constructor (...a) { A.count++; this.a = a } get p () { return this.#p } set p (v) { this.#p = v } static of (...a) { return new this(...a) } has (o) { return #p in o } * [Symbol.iterator] () { yield * this.a } #m () { return 'm' + this.x } m () { return this.#m() } toString () { return 'A!' } }",
		"class B extends A { constructor (...a) { super(...a, 'b'); this.y = super.m?.() } m () { return 'B' + super.m() } get [Symbol.toStringTag] () { return 'Bee' } "+g.pick("[Symbol.toPrimitive] (h) { return h }",
			"valueOf () { return 42 }", "static [Symbol.hasInstance] (v) { return v === 1 }")+" }",
		"const a = A.of("+g.number()+", "+g.text()+")", "const b = new B(1, 2)", "const seen = []",
		"const spy = new Proxy({ k: 1 }, { get (t, k, r) { seen.push(String(k)); return Reflect.get(t, k, r) }, has: (t, k) => k === 'magic' || k in t, set (t, k, v) { t[k] = [v]; return true }, deleteProperty (t, k) { seen.push('del ' + k); return delete t[k] }, ownKeys: () => ['k', 'z'], getOwnPropertyDescriptor: (t, k) => ({ value: t[k], enumerable: true, configurable: true }) })")
	parts := map[string]func() string{"o": func() string { return g.pick("a", "b", "new A()", "B.of(3)") }, "n": g.number, "t": g.text, "i": g.index}
	p.add(g, 12, parts, "$o", "$o.m()", "$o.p", "($o.p = $n, $o.p)", "$o.has($o)", "$o.has({})", "[...$o]", "`${$o}`",
		"$o + 1", "$o + ''", "$o * 2", "String($o)", "Object.prototype.toString.call($o)", "$o instanceof A", "$o instanceof B",
		"A.count", "B.count", "Object.keys($o)", "Object.getOwnPropertyNames(A)", "Object.getOwnPropertyNames(B.prototype)",
		"typeof A + A.name + A.length", "JSON.stringify($o)", "B.s", "$o.constructor.name", "($o).a?.[0]?.x", "(($o).z ?? 'none')",
		"delete $o.x",
		"spy.k", "'magic' in spy", "(spy.q = $n, spy.q)", "delete spy.k", "Object.keys(spy)", "({ ...spy }).k", "seen",
		"((s, ...v) => [s.raw, [...s], v])`a${$n}\\n${$t}`", "(function () { return arguments.length + [...arguments].join() })($n, $t)",
		"((x, y = x + 1, { z = 3, ...r } = { w: 4 }) => [x, y, z, r])($i)", "(() => { const f = []; for (let i = 0; i < 3; i++) f.push(() => i); return f.map(x => x()) })()",
		"(() => { var f = []; for (var i = 0; i < 3; i++) f.push(() => i); return f.map(x => x()) })()", "(() => { let s = ''; for (const k in { b: 1, a: 2, 1: 3 }) s += k; return s })()",
		"(() => { outer: for (let i = 0; i < 3; i++) { for (let j = 0; j < 3; j++) { if (j === 1) continue outer; if (i === 2) break outer; seen.push(i + '' + j) } } return seen.length })()",
		"(() => { switch ($i) { case 1: return 'one'; default: return 'other'; case 2: return 'two' } })()", "(() => { try { x; let x = 1 } catch (e) { return e.name } })()",
		"(() => { let [x, y] = [1, 2]; [x, y] = [y, x]; return [x, y] })()", "(() => { let n = null; n ??= 5; n ||= 6; n &&= 7; return n })()",
		"(function f (n) { return n < 2 ? n : f(n - 1) + f(n - 2) })(12)", "[...(function * f (n) { if (n) { yield n; yield * f(n - 1) } })(4)]",
		"(x => x)`t`[0]", "Reflect.has({ a: 1 }, 'a')", "Reflect.apply(Math.max, null, [$n, $n])", "Object.getOwnPropertyDescriptors({ get a () { return 1 }, b: 2 })",
		"(o => { Object.defineProperty(o, 'h', { value: 1 }); return [Object.keys(o), o.h, (() => { try { 'use strict'; o.h = 2; return o.h } catch (e) { return e.name } })()] })({})",
		"typeof globalThis", "[typeof null, typeof undefined, typeof (() => 1), typeof 1n, typeof Symbol()]", "void 0",
		"(1, 2, $n)", "(async () => 1)() instanceof Promise", "Symbol('d').description", "[Symbol.iterator in $o, Symbol.iterator in [] ]",
		"(() => { const { a: [x] = [9], ...r } = { a: [$n], q: 1 }; return [x, r] })()", "isNaN(new Date('x'))", "Number.prototype.toString.call(255, 16)",
		"Array.from({ *[Symbol.iterator] () { yield 1 } })", "(function () { 'use strict'; return this })()", "[0, -0, NaN].map(x => [Object.is(x, 0), [x].indexOf(x)])",
		"new (class { static #n = 1; static get n () { return this.#n } }).constructor.n")
}

// streams: streams of the web, with transforms and decoders.
func (g generator) streams(p *program) {
	p.setup = append(p.setup,
		"const from = (...list) => new ReadableStream({ start (c) { for (const x of list) c.enqueue(x); c.close() } })",
		"const pulled = n => new ReadableStream({ i: 0, pull (c) { if (this.i >= n) c.close(); else c.enqueue(this.i++) } })",
		"const read = async stream => { const list = []; const r = stream.getReader(); for (;;) { const { done, value } = await r.read(); if (done) return list; list.push(value) } }",
		"const over = f => new TransformStream({ transform (x, c) { f(x, c) }, flush (c) { c.enqueue('end') } })", "const utf8 = new TextEncoder()")
	parts := map[string]func() string{
		"s": func() string {
			return g.pick("from(1, 2, 3)", "from()", "pulled("+fmt.Sprint(g.IntN(5))+")", "from("+g.text()+", "+g.text()+")",
				"new Blob(["+g.text()+"]).stream()", "new Response("+g.text()+").body")
		},
		"x": func() string {
			return g.pick("over((x, c) => c.enqueue(x))", "over((x, c) => { c.enqueue(x); c.enqueue(x) })", "over((x, c) => { if (x !== 2) c.enqueue([x]) })",
				"new TransformStream()", "over((x, c) => c.terminate())", "over((x, c) => c.error(new Error('own')))")
		},
		"t": g.text, "w": g.whole, "p": g.plain,
	}
	p.add(g, 8, parts, "read($s)", "read($s.pipeThrough($x))", "read($s.pipeThrough($x).pipeThrough($x))", "Promise.all($s.tee().map(read))",
		"(async s => { const r = s.getReader(); try { return [s.locked, await r.read(), (r.releaseLock(), s.locked)] } finally { await s.cancel('why') } })($s)",
		"read(from($w, $w).pipeThrough(new TextEncoderStream()))", "read(from(utf8.encode($t).slice(0, 3), utf8.encode($t)).pipeThrough(new TextDecoderStream()))",
		"(async () => { const got = []; await $s.pipeTo(new WritableStream({ write (x) { got.push(x) }, close () { got.push('closed') } })); return got })()",
		"(async () => { const got = []; const w = new WritableStream({ write (x) { got.push(x) }, abort (e) { got.push(['abort', e]) } }).getWriter(); await w.write(1); w.write(2); await w.close(); return got })()",
		"(async () => { const s = new ReadableStream({ start (c) { c.enqueue(1); c.error(new Error('own broken')) } }); return read(s) })()",
		"new Blob([$t, $t]).text()", "new Blob([$t]).size", "new Blob([$t], { type: 'Text/Plain' }).slice(1, 3).type",
		"new Response($p).text()", "new Response(JSON.stringify({ a: [1] })).json()", "new Response($t, { status: 201, headers: { A: 'b' } }).status",
		"[...new Headers({ B: '1', a: '2', 'set-cookie': 'x' })]", "(h => { h.append('x', '1'); h.append('X', '2'); return h.get('x') })(new Headers())",
		"(f => { f.append('a', '1'); f.append('a', '2'); f.set('b', 'c'); return [...f] })(new FormData())", "new File([$t], 'f.txt').name",
		"new Response(new URLSearchParams({ a: 'b c' })).text()", "new Request('http://x.example/a', { method: 'post', body: $t }).method",
		"new Blob([$t]).arrayBuffer()", "read(new Blob([$t]).stream().pipeThrough(new TextDecoderStream()))", "(async () => { const { readable, writable } = new TransformStream(); const w = writable.getWriter(); w.write($t); w.close(); return read(readable) })()",
		"new Response('x').bodyUsed", "(async r => [await r.clone().text(), r.bodyUsed, await r.text(), r.bodyUsed])(new Response($p))")
}
