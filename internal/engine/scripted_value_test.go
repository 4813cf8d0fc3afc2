package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/library"
)

// TestScriptedValues checks that what a script makes of a caller's value is the caller's, whatever stands between the
// script and the command: it is refused where it would be read as an option.
func TestScriptedValues(t *testing.T) {
	t.Parallel()
	const (
		parameter = "description: d\nparameters: {x: {type: string, description: x}}\n"
		leaf      = parameter + "bash: ls -d {x}\n"
	)
	for name, c := range map[string]struct {
		files   map[string]string // main is called
		refused bool
	}{
		"a step":                    {map[string]string{"main.yaml": parameter + "steps: [{name: a, js: return params.x}, {name: b, bash: 'ls -d {a.output}'}]\n"}, true},
		"a group":                   {map[string]string{"main.yaml": parameter + "steps: [{name: a, steps: [{name: in, js: return params.x}]}, {name: b, bash: 'ls -d {a.output}'}]\n"}, true},
		"a used tool with a script": {map[string]string{"inner.yaml": parameter + "js: return params.x\n", "main.yaml": parameter + "steps: [{name: a, use-tool: ./inner.yaml, with: {x: '{x}'}}, {name: b, bash: 'ls -d {a.output}'}]\n"}, true},
		"a used .tool.js": {map[string]string{"inner.tool.js": "module.exports = {\n  getMetadata() { return {id: 'inner', description: 'd'} },\n  getSchema() { return {parameters: {type: 'object', properties: {x: {type: 'string'}}}} },\n  execute(p) { return p.x },\n}\n",
			"main.yaml": parameter + "steps: [{name: a, use-tool: ./inner.tool.js, with: {x: '{x}'}}, {name: b, bash: 'ls -d {a.output}'}]\n"}, true},
		"two used tools": {map[string]string{"inner.yaml": parameter + "js: return params.x\n", "outer.yaml": parameter + "steps: [{name: a, use-tool: ./inner.yaml, with: {x: '{x}'}}]\n",
			"main.yaml": parameter + "steps: [{name: a, use-tool: ./outer.yaml, with: {x: '{x}'}}, {name: b, bash: 'ls -d {a.output}'}]\n"}, true},
		"into a used tool": {map[string]string{"leaf.yaml": leaf, "main.yaml": parameter + "steps: [{name: a, steps: [{name: in, js: return params.x}]}, {name: b, use-tool: ./leaf.yaml, with: {x: '{a.output}'}}]\n"}, true},
		"post-processing": {map[string]string{"inner.yaml": parameter + "bash: echo\n", "leaf.yaml": leaf,
			"main.md": "---\nname: main\ndescription: d\ntool: true\ntype: chain\nparameters:\n  - {name: x, type: string, description: x}\n---\n```yaml\nsteps:\n  - {id: a, tool: ./inner.yaml, parameters: {x: one}, post_processing: \"return {v: input.x}\"}\n  - {id: b, tool: ./leaf.yaml, parameters: {x: \"{{prev_step.output.v}}\"}}\n```\n"}, true},
		"a used tool that gets nothing": {map[string]string{"inner.yaml": parameter + "js: return '-d'\n", "main.yaml": parameter + "steps: [{name: a, use-tool: ./inner.yaml, with: {x: own}}, {name: b, bash: 'ls {a.output} .'}]\n"}, false},
		"a command":                     {map[string]string{"main.yaml": parameter + "steps: [{name: a, bash: 'echo -- {x}'}, {name: b, bash: 'ls {a.output}'}]\n"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := ""
			for name, text := range c.files {
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(name, "main.") {
					file = path
				}
			}
			js := hooks.New(hooks.Config{InProcess: true})
			t.Cleanup(func() { js.Close() })
			lib := library.New(library.Config{WorkingDirectory: dir})
			lib.Handle(".tool.js", hooks.Loader(hooks.LoaderConfig{Runtime: js}))
			p, err := engine.Compile(lib, file)
			if err != nil {
				t.Fatal(err)
			}
			res, err := engine.New(engine.Config{}).Run(t.Context(), p, map[string]any{"x": "-a"}, engine.WithRunEnv(engine.RunEnv{Workspace: dir, Home: dir, Temp: dir, JavaScript: js}))
			if err != nil {
				t.Fatal(err)
			}
			said := res.Message
			for _, s := range res.Steps {
				said += "\n" + s.Message
			}
			if refused := res.Status == dag.Failed && strings.Contains(said, `"-a"`); refused != c.refused {
				t.Errorf("%s %q: %s", res.Status, res.Output, said)
			}
		})
	}
}
