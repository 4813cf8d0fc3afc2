package compile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// positions are definitions with @ for a text in which placeholders are replaced.
var positions = map[string]string{
	"run":               "run: echo '@'",
	"bash":              "bash: echo \"@\"",
	"sh":                "sh: echo '@'",
	"pwsh":              "pwsh: echo '@'",
	"cmd":               "cmd: echo @",
	"script":            "script: echo '@'",
	"here-document":     "bash: |\n  cat <<END\n  @\n  END",
	"input":             "input: '@'\nbash: cat",
	"environment":       "environment: {A: '@'}\nbash: env",
	"step environment":  "steps: [{name: s, environment: {A: '@'}, bash: env}]",
	"working-directory": "working-directory: '@'\nbash: pwd",
	"env-files":         "env-files: ['@']\nbash: env",
	"default":           "parameters: {LIST: {type: array, description: l}, D: {description: d, default: '@'}}\nbash: echo {D} {LIST}",
	"group":             "steps: [{name: g, steps: [{name: s, bash: \"echo '@'\"}]}]",
	"loop":              "steps: [{name: g, for-each: {items: '{LIST}'}, bash: \"echo '@'\"}]",
	"list of a loop":    "steps: [{name: g, for-each: {items: '@'}, bash: \"echo {item}\"}]",
	"key of a loop":     "steps: [{name: g, for-each: {items: '{LIST}', key: '@'}, bash: \"echo {item}\"}]",
	"matrix":            "steps: [{name: g, matrix: {a: ['@']}, bash: \"echo {matrix.a}\"}]",
	"on-failure":        "bash: echo\non-failure: [{name: h, bash: \"echo '@'\"}]",
	"finally":           "steps: [{name: s, bash: echo, finally: [{name: h, run: \"echo '@'\"}]}]",
	"fallback":          "bash: echo\nerror-handling: {fallback: \"echo '@'\"}",
	"http url":          "steps: [{name: s, http: {url: 'https://example.com/@'}}]",
	"http header":       "steps: [{name: s, http: {url: https://example.com, headers: {A: '@'}}}]",
	"http body":         "steps: [{name: s, http: {url: https://example.com, method: POST, body: '@'}}]",
	"http json":         "steps: [{name: s, http: {url: https://example.com, method: POST, json: {a: ['@']}}}]",
	"approve":           "steps: [{name: s, approve: '@?'}]",
	"wait":              "steps: [{name: s, wait: {until: '@'}}]",
	"with":              "steps: [{name: s, use-tool: ./used.yaml, with: {X: '@'}}]",
	"output":            "steps: [{name: s, bash: echo}]\noutput: '@'",
	"outputs":           "steps: [{name: s, bash: echo}]\noutputs: {o: {value: '@'}}",
	"cache key":         "bash: echo\ncache: {inputs: [x], key: '@'}",
	"cache input":       "bash: echo\ncache: {inputs: ['@']}",
	"artifact":          "bash: echo\nartifacts: [{path: '@', name: a}]",
	"ssh host":          "steps: [{name: s, ssh: '@', bash: echo}]",
	"answer":            "bash: read x\ninteractive: true\nerror-handling: {}\ninteractive-options: {default-response: '@', timeout: 5s}",
	"save-as":           "steps: [{name: s, http: {url: https://example.com, save-as: '@'}}]",
	"format":            "parameters: {LIST: {type: array, description: l}, D: {description: d, format: '--x={value}@'}}\nbash: echo {D} {LIST}",
}

// TestMalformedPlaceholders: braces that begin with a known name and are no placeholder are an error wherever
// placeholders are replaced; names of other places are an error too; x-allow makes both text.
func TestMalformedPlaceholders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	define(t, dir, "used", "parameters: {X: {description: x, default: ''}}\nbash: echo {X}")
	for at, position := range positions {
		for braces, name := range map[string]string{"{LIST[index]}": "LIST", "{LIST | length}": "LIST", "{run.id}": "run", "{matrix.os}": "matrix", "{last.exit-code}": "last"} {
			if name == "run" && (at == "on-failure" || at == "finally") || name == "matrix" && at == "matrix" {
				continue
			}
			text := strings.ReplaceAll(position, "@", braces)
			if at == "format" {
				if name != "LIST" {
					continue
				}
				text, name = strings.ReplaceAll(text, braces, "{value"+strings.TrimPrefix(braces, "{LIST")), "value"
			}
			if !strings.Contains(text, "parameters:") {
				text += "\nparameters: {LIST: {type: array, description: l}}"
			}
			_, err := compileIn(dir, define(t, dir, "it", text))
			if err == nil || !strings.Contains(err.Error(), "begins with the name "+name) && !strings.Contains(err.Error(), "{"+name+"...} is only available") {
				t.Errorf("%s: %s is accepted: %v", at, braces, err)
			}
		}
	}
}

// TestMalformedInMarkdown is TestMalformedPlaceholders for a definition in Markdown.
func TestMalformedInMarkdown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	define(t, dir, "used", "parameters: {X: {description: x, default: ''}}\nbash: echo {X}")
	for _, text := range []string{"x {{input.list[index]}}", "{{input.list | length}}", "input.list[-1]", "{{date | upper}}"} {
		path := filepath.Join(dir, "page.md")
		page := "---\ntool: true\nname: page\ndescription: d\ntype: single\nparameters: [{name: list, type: array, description: l}]\n---\n\n```yaml\ntool: used\nparameters: {X: '" + text + "'}\n```\n"
		if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := compileIn(dir, path); !strings.Contains(fmt.Sprint(err), "begins with the name") {
			t.Errorf("%s is accepted: %v", text, err)
		}
	}
}
