package jsrun

import (
	"context"
	"testing"
)

// Globals that are created when they are first used behave as if they had always existed.
func TestLateGlobals(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{`return [typeof fetch, typeof console, typeof setTimeout, typeof Buffer, typeof nothing]`, `["function","object","function","function","undefined"]`},
		{`return ['URL' in globalThis, 'nothing' in globalThis, globalThis.nothing === undefined]`, `[true,false,true]`},
		{`return URL === globalThis.URL && globalThis.hasOwnProperty('URL')`, `true`},
		{`globalThis.fetch = () => 1; return fetch()`, `1`},
		{`fetch = () => 2; return [fetch(), globalThis.fetch()]`, `[2,2]`},
		{`'use strict'; console = {log: () => 3}; return console.log()`, `3`},
		{`URL; delete globalThis.URL; globalThis.atob = undefined; return [typeof URL, typeof atob]`, `["undefined","undefined"]`},
		{`Object.prototype.polluted = 4; return [polluted, globalThis instanceof Object, String(globalThis)]`, `[4,true,"[object global]"]`},
		{`const names = []; for (const n in globalThis) names.push(n); return [names, Object.keys(globalThis)]`, `[[],[]]`},
		{`class Mine extends Event {}; return new Mine('x').type`, `"x"`},
		{`try { missing } catch (e) { return String(e) }`, `"ReferenceError: missing is not defined"`},
		{`try { missing = 1 } catch (e) { return String(e) } return missing`, `1`},
		{`(function () { 'use strict'; missing = 1 })()`, ``},
		{`return await new Promise(done => setImmediate((a, b) => queueMicrotask(() => done(a + b)), 1, 2))`, `3`},
		{`const id = setTimeout(() => { throw 1 }, 1); clearTimeout(id); return typeof require('timers').setTimeout`, `"function"`},
	} {
		r := New(Config{InProcess: true})
		s := compile(t, Step, c.code)
		if raw, err := r.Call(context.Background(), Call{Script: s}); string(raw) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: %s, %v", c.code, raw, err)
		}
		r.Close()
	}
}
