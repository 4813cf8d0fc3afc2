package flowruntest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/flowruntest"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/library"
)

// TestScripts replaces steps of JavaScript, the parts of a Markdown chain and
// a tool in JavaScript, whose business error is retried.
func TestScripts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"report.yaml": `name: report
description: Reports
parameters:
  WHO: {description: Whom, required: true, transform: value.trim()}
steps:
  - name: chain
    use-tool: ./chain.md
    with: {who: "{WHO}"}
  - name: sum
    js: |
      return params.WHO + steps.chain.json.n;
  - name: tell
    bash: echo "{sum.output}"
`,
		"chain.md": `---
tool: true
name: chain
description: Fetches
type: chain
parameters: [{name: who, type: string}]
---
~~~js
// @preprocess
return {name: input.who};
~~~
~~~yaml
steps:
  - id: fetch
    tool: ./fetch.tool.js
    parameters: {name: input.name}
    post_processing: |
      return {n: output.n + 1};
~~~
`,
		"fetch.tool.js": `module.exports = {
  getMetadata: () => ({ id: 'fetch', description: 'Fetches.', retry: { attempts: 3, delay: '1h' } }),
  execute: () => { throw new Error('never called'); }
};`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	scripts := hooks.New(hooks.Config{InProcess: true})
	defer scripts.Close()
	lib := library.New(library.Config{Home: dir})
	lib.Handle(".tool.js", hooks.Loader(hooks.LoaderConfig{Runtime: scripts}))
	plan, err := flowrun.Compile(lib, filepath.Join(dir, "report.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	run := flowruntest.New().
		On("chain/preprocess", flowruntest.Answer{Stdout: `{"name":"Ada"}`}).
		On("chain/fetch/tool/fetch", flowruntest.Answer{Exit: 1}, flowruntest.Answer{Stdout: `{"n":3}`}).
		On("chain/fetch/post", flowruntest.Answer{Stdout: `{"n":4}`}).
		On("sum", flowruntest.Answer{Stdout: "Ada4"}).
		On("tell").
		Run(t, plan, map[string]any{"WHO": " Ada "})
	if run.Status != dag.Succeeded || run.Took != time.Hour || run.Params["WHO"] != "Ada" {
		t.Fatal(run.Status, run.Took, run.Params, run.Order())
	}
	for step, want := range map[string]string{
		"chain/preprocess": "input.who", "chain/fetch/tool/fetch": "fetch.tool.js", "chain/fetch/post": "output.n + 1",
		"sum": "params.WHO + steps.chain.json.n", "tell": `echo "Ada4"`,
	} {
		calls := run.Of(step)
		if len(calls) == 0 || !strings.Contains(calls[0].Command, want) {
			t.Errorf("%s was asked to do %+v, want %q", step, calls, want)
		}
	}
}
