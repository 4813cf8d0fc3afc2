package flowrun_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/tool"
)

// A program that embeds flowrun reads .tool.js files and Markdown tools, and keeps one
// Runtime for all its runs: its processes are started once. The program calls HelperMain
// first thing in main; one that cannot makes the Runtime with InProcess.
func ExampleConfig_javaScript_tools() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{
		"count.tool.js": `module.exports = {
  getMetadata: () => ({ id: 'count', description: 'Counts letters.' }),
  getSchema: () => ({ parameters: { type: 'object', properties: { text: { type: 'string', description: 'The text' } }, required: ['text'] } }),
  execute: ({ text }) => ({ text, letters: text.length })
};`,
		"both.md": `---
tool: true
name: both
description: Counts the letters of two texts
type: chain
parameters: [{name: texts, type: array}]
---
~~~yaml
steps:
  - {id: first, tool: ./count.tool.js, parameters: {text: "{{texts[0]}}"}}
  - {id: second, tool: ./count.tool.js, parameters: {text: "{{texts[1]}} and {{prev_step.output.text}}"}}
~~~
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}

	scripts := hooks.New(hooks.Config{}) // or hooks.Config{InProcess: true}
	defer scripts.Close()
	lib := library.New(library.Config{})
	for _, extension := range hooks.Extensions() {
		lib.Handle(extension, hooks.Loader(hooks.LoaderConfig{Runtime: scripts}))
	}
	plan, err := flowrun.Compile(lib, filepath.Join(dir, "both.md"))
	if err != nil {
		log.Fatal(err)
	}
	engine := flowrun.New(flowrun.Config{JavaScript: scripts, StateDir: filepath.Join(dir, "state")})
	res, err := engine.Run(context.Background(), plan, map[string]any{"texts": []any{"Ada", "Grace"}})
	if err != nil {
		log.Fatal(err)
	}
	var out struct{ Letters int }
	if err := res.Decode(&out); err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Status, out.Letters)
	// Output: succeeded 13
}

// A program that embeds flowrun and cannot call HelperMain runs scripts in its own
// process.
func ExampleConfig_javaScript() {
	scripts := hooks.New(hooks.Config{InProcess: true})
	defer scripts.Close()
	def, err := tool.Decode("greet.yaml", []byte("js: \"return {text: 'Hello, ' + params.who}\"\nparameters:\n  who: {type: string, required: true}\n"))
	if err != nil {
		log.Fatal(err)
	}
	plan, err := flowrun.CompileDefinition(library.New(library.Config{}), def)
	if err != nil {
		log.Fatal(err)
	}
	res, err := flowrun.New(flowrun.Config{JavaScript: scripts}).Run(context.Background(), plan, map[string]any{"who": "Ada"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Output)
	// Output: {"text":"Hello, Ada"}
}
