package ui_test

import (
	"testing"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"
)

// TestCommands checks commands to copy, and differences of texts.
func TestCommands(t *testing.T) {
	built := api.Build(api.BuildOptions{Bundle: true, Format: api.FormatIIFE, GlobalName: "page", Target: api.ES2017,
		Stdin: &api.StdinOptions{ResolveDir: "src", Contents: "export * from './command'; export * from './diff'; export * from './json';"}})
	if len(built.Errors) > 0 {
		t.Fatal(built.Errors)
	}
	const given = `
		const location = {origin: 'http://127.0.0.1:7878'};
		const call = (params, ...secrets) => ({tool: 'a', params, secrets});
		const marked = (before, after) => page.diff(before, after).map((l) => l.mark + l.text).join('|');`
	vm := goja.New()
	if _, err := vm.RunString(string(built.OutputFiles[0].Contents) + given); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ code, want string }{
		{`page.asCli(call({}))`, `flowrun run a`},
		{`page.asCli(call({WHO: "it's $HOME", N: 7, LIST: ['x'], AT: '@x'}))`, `flowrun run a 'WHO=it'\''s $HOME' N:=7 'LIST:=["x"]' 'AT:="@x"'`},
		{`page.asCli(call({WHO: "it's \\"}, 'A-KEY'), 'fish')`, `flowrun run a 'WHO=it\'s \\' A-KEY="$A_KEY"`},
		{`page.asCli(call({WHO: "it's ‘$x’"}, 'KEY'), 'powershell')`, `flowrun run a 'WHO=it''s ‘‘$x’’' KEY="${env:KEY}"`},
		{`page.asCli(call(page.parse('{"N": 12345678901234567890, "V": [1.50, 9007199254740993]}')))`, `flowrun run a N:=12345678901234567890 'V:=[1.50,9007199254740993]'`},
		{`page.asCli(call({WHO: 'Ada'}, 'KEY'))`, `flowrun run a WHO=Ada KEY="$KEY"`},
		{`page.asCurl(call({WHO: "it's"})).split('-d ')[1]`, `'{"tool":"a","params":{"WHO":"it'\''s"}}' http://127.0.0.1:7878/api/v1/runs`},
		{`page.asCurl(call({N: 1}, 'KEY')).split('-d ')[1]`, `'{"tool":"a","params":{"N":1,"KEY":'"$(printf %s "$KEY" | jq -Rs .)"'}}' http://127.0.0.1:7878/api/v1/runs`},
		{`page.asCurl(call({}, 'K', 'L')).split('-d ')[1]`, `'{"tool":"a","params":{"K":'"$(printf %s "$K" | jq -Rs .)"',"L":'"$(printf %s "$L" | jq -Rs .)"'}}' http://127.0.0.1:7878/api/v1/runs`},
		{`marked('a\nb\nc', 'a\nx\nc\nd')`, ` a|-b|+x| c|+d`},
		{`marked('a\nb', 'a\nb')`, ` a| b`},
		{`marked('', 'a')`, `-|+a`},
		{`page.hunks(page.diff('1\n2\n3\n4\n5\n6', '1\n2\n3\n4\n5\nx'), 1).map((l) => l ? l.mark + l.text : '...').join('|')`, `...| 5|-6|+x`},
	} {
		v, err := vm.RunString(tt.code)
		if err != nil || v.String() != tt.want {
			t.Errorf("%s: %v %v, want %s", tt.code, v, err, tt.want)
		}
	}
}
