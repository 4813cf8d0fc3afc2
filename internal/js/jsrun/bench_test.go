package jsrun

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// kilobyte is a value of about 1 KB as JSON, as hooks see them.
func kilobyte() map[string]any {
	return map[string]any{"url": "https://example.com/search", "query": strings.Repeat("q", 200), "limit": 20,
		"tags":    []any{"a", "b", "c", map[string]any{"deep": true, "n": 1.5}},
		"headers": map[string]any{"accept": "application/json", "agent": strings.Repeat("x", 300)},
		"body":    strings.Repeat("text ", 70)}
}

const hook = `// @preprocess
input.url = input.url + '?q=' + encodeURIComponent(input.query);
input.tags.push('more');
return input;`

// BenchmarkCall measures one hook on a 1 KB value: at most 60 µs in process, 100 µs through the
// child.
func BenchmarkCall(b *testing.B) {
	for way, r := range runtimes(b) {
		b.Run(way, func(b *testing.B) {
			c := Call{Script: compile(b, Body, hook, "input"), Vars: map[string]any{"input": kilobyte()}}
			if _, err := r.Call(context.Background(), c); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Call(context.Background(), c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEncode measures the encoding of a call's values, a part of BenchmarkCall.
func BenchmarkEncode(b *testing.B) {
	vars := map[string]any{"input": kilobyte()}
	for b.Loop() {
		encode(vars)
	}
}

// BenchmarkCompile measures the compilation of a hook.
func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		compile(b, Body, hook, "input")
	}
}

// BenchmarkStart measures a call that needs a new child.
func BenchmarkStart(b *testing.B) {
	s := compile(b, Body, "return 1")
	for b.Loop() {
		r := New(Config{})
		if _, err := r.Call(context.Background(), Call{Script: s}); err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

// BenchmarkLimit measures how long after its limit a script that cannot be interrupted has
// ended: at most 500 ms.
func BenchmarkLimit(b *testing.B) {
	const limit = 100 * time.Millisecond
	for _, name := range []string{"while true", "backtracking", "a huge array", "4 GB of pushes"} {
		b.Run(name, func(b *testing.B) {
			r := New(Config{Timeout: limit})
			defer r.Close()
			s := compile(b, Body, hostile[name].code, "input")
			var worst time.Duration
			for b.Loop() {
				began := time.Now()
				r.Call(context.Background(), Call{Script: s, Vars: map[string]any{"input": map[string]any{}}})
				worst = max(worst, time.Since(began)-limit)
			}
			b.ReportMetric(float64(worst.Milliseconds()), "ms-over")
		})
	}
}

// BenchmarkStep measures a js: step on a 1 KB value, through the child.
func BenchmarkStep(b *testing.B) {
	r := New(Config{})
	defer r.Close()
	c := Call{Script: compile(b, Step, "return params.input.tags.length", "params"), Vars: map[string]any{"params": map[string]any{"input": kilobyte()}}}
	for b.Loop() {
		if _, err := r.Call(context.Background(), c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkModule measures a module of the size of ten npm packages, 2 MB: the first call in a
// child, which compiles it, and the later ones, for which the child keeps the compiled code.
func BenchmarkModule(b *testing.B) {
	code := strings.Repeat("(function (a, b) { const c = { x: a, y: [b, /[a-z]+/] }; return a ? c.x : c.y.map(d => d + 1); });\n", 20_000)
	c := Call{Script: CompileModule(&tool.Module{File: "/m.tool.js", Code: []byte(code + "module.exports = { execute: () => 1 }")}), Entry: "execute"}
	call := func(r *Runtime) {
		if _, err := r.Call(context.Background(), c); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			r := New(Config{})
			call(r)
			r.Close()
		}
	})
	b.Run("later", func(b *testing.B) {
		r := New(Config{})
		defer r.Close()
		call(r)
		for b.Loop() {
			call(r)
		}
	})
}
