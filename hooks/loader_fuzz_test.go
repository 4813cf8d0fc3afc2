package hooks_test

import (
	"testing"

	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// FuzzLoader checks that any file is read without a panic and within the limits, and that every
// diagnostic has a code and a position in the file.
func FuzzLoader(f *testing.F) {
	for _, s := range []string{
		"", "\ufeffmodule.exports = {}", "module.exports = 5", "export default { execute() {} }", string(benchTool(1)),
		"module.exports = class { #a = 1; execute() { return this.#a } getSchema() { return { type: 'object', properties: { a: { type: 'x' } } } } }",
		"module.exports = { execute: 1, getMetadata: () => ({ id: {}, tags: 'x', retry: { attempts: 'many' }, timeout: -1, permissions: 5 }) }",
		"module.exports = { execute() {}, getDependencies: () => ['a@1', 5, '@b/c@2'], getBusinessErrors: () => [null, { match: /x/g }] }",
		"module.exports = new Proxy({}, { get() { throw 1 } })", "throw { get message() { throw 1 } }", "require('fs')", "((((((", "module.exports = { execute() {} ", "\x00",
	} {
		f.Add(s)
	}
	rt := hooks.New(hooks.Config{})
	f.Cleanup(func() { rt.Close() })
	load := hooks.Loader(hooks.LoaderConfig{Runtime: rt})
	f.Fuzz(func(t *testing.T, text string) {
		def, bad := load("x.tool.js", []byte(text))
		if def == nil || def.Format != tool.JavaScript {
			t.Fatalf("no definition: %v", def)
		}
		for _, d := range bad {
			if d.Code == "" || d.Message == "" || d.Pos.File != "x.tool.js" || d.Pos.Line < 1 || d.Pos.Col < 1 {
				t.Errorf("%+v", d)
			}
		}
	})
}
