package jsrun

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/heaptest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// hostile are scripts that attack flowrun, with the errors that each may end with. The first
// kind is the most common one.
var hostile = map[string]struct {
	code  string
	kinds []Kind
}{
	"while true":            {`while (true) {} return 1`, []Kind{KindTimeout}},
	"for ever":              {`for (;;) { input.n++ } return 1`, []Kind{KindTimeout}},
	"a loop that catches":   {`for (;;) { try { for (;;) {} } catch (e) {} finally { continue } } return 1`, []Kind{KindTimeout}},
	"a promise loop":        {`const f = () => Promise.resolve().then(f); await f(); return 1`, []Kind{KindTimeout}},
	"an async loop":         {`while (true) { await null } return 1`, []Kind{KindTimeout}},
	"backtracking":          {`return /^(?=(a+)+$)(a+)+$/.test('a'.repeat(40) + '!')`, []Kind{KindTimeout}},
	"backtracking backrefs": {`return /^(a+)+\1$/.test('a'.repeat(45) + '!')`, []Kind{KindTimeout}},
	"a huge array":          {`return Array(1e8).fill(0).length`, []Kind{KindMemory, KindTimeout}},
	"a huge string":         {`return 'x'.repeat(1 << 30).length`, []Kind{KindMemory}},
	"4 GB of pushes":        {`const a = []; for (let i = 0; i < 5e8; i++) a.push({i}); return a.length`, []Kind{KindMemory, KindTimeout}},
	"doubling arrays":       {`let a = [1]; for (;;) a = a.concat(a); return a`, []Kind{KindMemory, KindTimeout}},
	"doubling strings":      {`let s = 'x'; for (;;) s = s + s; return s.length`, []Kind{KindMemory, KindTimeout, KindThrown}},
	"nested arrays":         {`let a = []; for (;;) a = [a, a]; return a`, []Kind{KindMemory, KindTimeout}},
	"deep arrays as text":   {`let a = []; for (let i = 0; i < 1e6; i++) a = [a]; return String(a)`, []Kind{KindThrown, KindMemory, KindTimeout}},
	"typed arrays":          {`const a = []; for (;;) a.push(new Uint8Array(1 << 24)); return a`, []Kind{KindMemory, KindTimeout}},
	"a Map that grows":      {`const m = new Map(); for (let i = 0; ; i++) m.set(i, 'x'.repeat(100) + i); return 1`, []Kind{KindMemory, KindTimeout}},
	"recursion":             {`const f = (n) => f(n + 1) + 1; return f(0)`, []Kind{KindThrown}},
	"recursion in natives":  {`const f = () => [1].map(f); return f()`, []Kind{KindThrown, KindTimeout}},
	"recursion in getters":  {`const o = {get x() { return this.x }}; return o.x`, []Kind{KindThrown, KindTimeout}},
	"recursion in toString": {`const o = {toString() { return '' + o }}; return '' + o`, []Kind{KindThrown, KindTimeout}},
	"a deep JSON bomb":      {`return JSON.parse('['.repeat(1e7))`, []Kind{KindThrown, KindMemory, KindTimeout}},
	"a wide JSON bomb":      {`return JSON.parse('[' + '{},'.repeat(2e7) + '1]').length`, []Kind{KindMemory, KindTimeout}},
	"a proxy's traps":       {`return new Proxy({}, {ownKeys() { for (;;) {} }})`, []Kind{KindTimeout}},
	"a proxy of everything": {`const p = new Proxy({}, {get: () => p, ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({enumerable: true, configurable: true, value: 1})}); return p`, []Kind{KindResult, KindThrown, KindTimeout, KindMemory}},
	"toJSON for ever":       {`return {toJSON() { for (;;) {} }}`, []Kind{KindTimeout}},
	"toJSON that grows":     {`const f = () => ({toJSON: f, a: {toJSON: f}}); return {a: {toJSON: f}, get b() { return f() }}`, []Kind{KindThrown, KindResult, ""}},
	"endless getters":       {`const f = () => ({get a() { return f() }}); return f()`, []Kind{KindResult}},
	"a getter that throws":  {`return {get a() { throw new Error('no') }}`, []Kind{KindThrown}},
	"an endless message":    {`throw {get message() { for (;;) {} }}`, []Kind{KindTimeout, KindThrown}},
	"a huge message":        {`throw new Error('x'.repeat(1e7))`, []Kind{KindThrown}},
	"a huge result":         {`return Array(1e7).fill('0123456789')`, []Kind{KindResult, KindMemory, KindTimeout}},
	"a long sparse array":   {`const a = []; a.length = 4294967295; return a`, []Kind{KindResult, KindTimeout}},
	"sorting for ever":      {`return [3, 1, 2].sort(() => { for (;;) {} })`, []Kind{KindTimeout}},
	"sorting a lot":         {`return Array.from({length: 1e7}, (_, i) => -i).sort((a, b) => a - b).length`, []Kind{KindMemory, KindTimeout}},
	"replacing for ever":    {`return 'x'.replace(/x/, () => { for (;;) {} })`, []Kind{KindTimeout}},
	"joining a lot":         {`return Array(1e8).join('xxxxxxxxxxxxxxxx').length`, []Kind{KindMemory, KindTimeout}},
	"padding a lot":         {`return ''.padStart(1 << 30, 'ab').length`, []Kind{KindMemory, KindTimeout}},
	"a thenable for ever":   {`return {then() {}}`, []Kind{KindThrown}},
	"a promise of promises": {`const f = () => new Promise(r => r(f())); return f()`, []Kind{KindThrown, KindTimeout}},
	"the constructor":       {`return (() => {}).constructor('return this')()`, []Kind{KindThrown}},
	"the async constructor": {`return (async () => {}).constructor('return this')()`, []Kind{KindThrown}},
	"the generators'":       {`return (function* () {}).constructor('yield this')().next()`, []Kind{KindThrown}},
	"a prototype's":         {`return Object.getPrototypeOf(async function () {}).constructor('x')`, []Kind{KindThrown}},
	"Reflect.construct":     {`return Reflect.construct(Object.getPrototypeOf(Object).constructor, ['return 1'])`, []Kind{KindThrown}},
	"indirect eval":         {`return globalThis['ev' + 'al']('1')`, []Kind{KindThrown}},
	"require by its name":   {`return globalThis['req' + 'uire']('fs')`, []Kind{KindThrown}},
}

// alike names scripts that attack like another one, for tests that do more.
var alike = []string{"for ever", "backtracking backrefs", "a huge array", "doubling strings", "a Map that grows", "recursion in getters", "recursion in toString",
	"a wide JSON bomb", "replacing for ever", "sorting a lot", "joining a lot", "a promise of promises", "a huge result"}

// clean is a script that checks for traces of other scripts.
const clean = `return [typeof left, ({}).polluted, [].constructor === Array, JSON.stringify({a: 1}), Object.keys(globalThis).length, 'a'.trim()].join()`

const wantClean = `"undefined,,true,{\"a\":1},0,a"`

// TestHostile checks that each hostile script ends with a clear error, and does not affect this
// process or the next call. BenchmarkLimit measures how soon it ends.
func TestHostile(t *testing.T) {
	r := New(Config{Timeout: time.Minute})
	defer r.Close()
	check := compile(t, Body, clean)
	for name, c := range hostile {
		if sizetest.Chosen() == sizetest.Small && slices.Contains(alike, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			limit := time.Duration(0)
			if slices.Contains(c.kinds, KindTimeout) {
				limit = time.Duration(sizetest.Of(50, 300, 300)) * time.Millisecond
			}
			s := compile(t, Body, c.code, "input")
			before := heaptest.InUse()
			began := time.Now()
			raw, err := r.Call(context.Background(), Call{Script: s, Timeout: limit, Vars: map[string]any{"input": map[string]any{"n": 1}}})
			took := time.Since(began)
			if grown := heaptest.InUse() - before; grown > 4<<20 {
				t.Errorf("this process has grown by %d bytes", grown)
			}
			var e *Error
			kind := Kind("")
			if errors.As(err, &e) {
				kind = e.Kind
			}
			if !slices.Contains(c.kinds, kind) || err != nil && (e == nil || e.Message == "") {
				t.Errorf("%.100s, %v (%s), want one of %v", raw, err, kind, c.kinds)
			}
			t.Logf("%v: %s: %.200v", took.Round(time.Millisecond), kind, err)
			if raw, err := r.Call(context.Background(), Call{Script: check}); err != nil || string(raw) != wantClean {
				t.Errorf("the next call: %s, %v", raw, err)
			}
		})
	}
}

// Changes of a world's globals end with the world.
func TestPollution(t *testing.T) {
	script := compile(t, Body, `left = 1; globalThis.left2 = 2; Object.prototype.polluted = 'yes'; Array.prototype.push = null
		JSON.stringify = () => 'no'; JSON.parse = () => 'no'; Promise.prototype.then = () => { throw 1 }; Symbol.prototype.x = 1
		String.prototype.trim = () => 'gone'; Object.keys = () => []; Array.isArray = () => true
		return {a: [1, {b: 2}]}`)
	check := compile(t, Body, clean)
	for way, r := range runtimes(t) {
		t.Run(way, func(t *testing.T) {
			for range 3 {
				if raw, err := r.Call(context.Background(), Call{Script: script}); err != nil || string(raw) != `{"a":[1,{"b":2}]}` {
					t.Errorf("%s, %v", raw, err)
				}
				if raw, err := r.Call(context.Background(), Call{Script: check}); err != nil || string(raw) != wantClean {
					t.Errorf("the next call: %s, %v", raw, err)
				}
			}
		})
	}
}

// A child has nothing of this process's environment except the time zone, and its working
// directory is not the caller's.
func TestChildEnvironment(t *testing.T) {
	t.Setenv("SECRET", "xyzzy")
	t.Setenv("TZ", "Asia/Tokyo")
	for _, entry := range childEnv() {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains([]string{"GOTRACEBACK", "TZ", "SystemRoot"}, name) {
			t.Error(entry)
		}
	}
	r := New(Config{})
	defer r.Close()
	raw, err := r.Call(context.Background(), Call{Script: compile(t, Body, "return new Date(0).getHours()")})
	if err != nil || string(raw) != "9" {
		t.Error(string(raw), err)
	}
	if runtime.GOOS == "linux" {
		for k := range r.pool.all {
			if dir, err := os.Readlink("/proc/" + strconv.Itoa(k.process.Pid) + "/cwd"); err != nil || dir != "/" {
				t.Error(dir, err)
			}
		}
	}
}
