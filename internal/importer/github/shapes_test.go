package github_test

import (
	"testing"

	"github.com/flowrun/flowrun/internal/test/importtest"
)

// keys are the keys that the reader knows.
var keys = []importtest.Keys{
	{"KEY: VALUE\njobs: {a: {steps: [{run: echo GUARDED}]}}\n", map[string]string{
		"name": importtest.Text, "env": importtest.Map, "defaults": importtest.Map, "run-name": importtest.Text, "concurrency": importtest.Either}},
	{"jobs: VALUE\n", map[string]string{"jobs": importtest.Map}},
	{"defaults: {run: {KEY: VALUE}}\njobs: {a: {steps: [{run: echo GUARDED}]}}\n", map[string]string{"shell": importtest.Text, "working-directory": importtest.Text}},
	{"jobs: {b: {steps: [{run: echo b}]}, a: {KEY: VALUE, steps: [{run: echo GUARDED}]}}\n", map[string]string{
		"name": importtest.Text, "env": importtest.Map, "defaults": importtest.Map, "needs": importtest.Texts, "timeout-minutes": importtest.Text, "continue-on-error": importtest.Bool, "if": importtest.Text,
		"runs-on": "[[w]]", "strategy": importtest.Map, "concurrency": importtest.Either, "container": importtest.Either, "services": importtest.Map}},
	{"jobs: {a: {container: {image: debian, KEY: VALUE}, steps: [{run: echo GUARDED}]}}\n", map[string]string{"image": importtest.Text, "env": importtest.Map}},
	{"jobs: {a: {container: debian, services: {db: {image: debian, KEY: VALUE}}, steps: [{run: echo GUARDED}]}}\n", map[string]string{
		"image": importtest.Text, "env": importtest.Map, "options": importtest.Text, "ports": importtest.Texts}},
	{"jobs: {a: {strategy: {KEY: VALUE, matrix: {x: [y]}}, steps: [{run: echo GUARDED}]}}\n", map[string]string{"fail-fast": importtest.Bool, "max-parallel": importtest.Text}},
	{"jobs: {a: {strategy: {matrix: {x: [y], KEY: VALUE}}, steps: [{run: echo GUARDED}]}}\n", map[string]string{"include": "[[w]]", "exclude": "w", "z": "w"}},
	{"jobs: {a: {steps: [{run: echo GUARDED, KEY: VALUE}]}}\n", map[string]string{
		"name": importtest.Text, "id": importtest.Text, "shell": importtest.Text, "working-directory": importtest.Text, "env": importtest.Map, "timeout-minutes": importtest.Text, "continue-on-error": importtest.Bool, "if": importtest.Text}},
	{"jobs: {a: {steps: VALUE}}\n", map[string]string{"steps": importtest.Steps}},
	{"jobs: {a: {steps: [{run: VALUE}]}}\n", map[string]string{"run": importtest.Text}},
	{"jobs: {a: {steps: [{uses: VALUE}, {run: echo GUARDED}]}}\n", map[string]string{"uses": importtest.Text}},
	{"on: {workflow_dispatch: {inputs: {x: {KEY: VALUE}}}}\njobs: {a: {steps: [{run: echo GUARDED}]}}\n", map[string]string{
		"default": importtest.Text, "description": importtest.Text, "required": importtest.Bool, "type": importtest.Text, "options": importtest.Texts}},
}

func TestWrongShapes(t *testing.T) { importtest.WrongShapes(t, read, keys) }

func TestRightShapes(t *testing.T) {
	importtest.RightShapes(t, read,
		"jobs: {a: {runs-on: {group: g, labels: [x]}, needs: [], permissions: {contents: read}, steps: [{run: echo GUARDED}]}}\n",
		"on: [push]\npermissions: read-all\njobs: {a: {runs-on: [self-hosted, x], continue-on-error: false, steps: [{run: echo GUARDED}]}}\n",
	)
}
