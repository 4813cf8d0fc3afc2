package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/library"
)

// askTool is a tool whose script asks a model with the arguments in its place.
const askTool = `module.exports = {
  getMetadata: () => ({ id: 'ask', description: 'Asks', permissions: [PERMISSION] }),
  getSchema: () => ({ environment: { properties: { API_TOKEN: { type: 'string' } } } }),
  async execute() { CODE },
}`

// TestAskModel checks what a script can ask a model, and what it gets if that fails.
func TestAskModel(t *testing.T) {
	t.Setenv("API_TOKEN", "hidden-key")
	scripts := hooks.New(hooks.Config{InProcess: true})
	defer scripts.Close()
	echo := func(_ context.Context, r call.ModelRequest) (string, error) {
		switch r.Prompt {
		case "fail":
			return "", errors.New("it is busy")
		case "long":
			return strings.Repeat("x", 1<<20+1), nil
		}
		return strings.Join([]string{r.Tool, r.Prompt, r.SystemPrompt}, "|") + strings.Repeat("!", int(r.MaxTokens%10)), nil
	}
	none := engine.WithAskModel(nil)
	for name, c := range map[string]struct {
		permission, code string
		option           engine.RunOption
		output, fails    string
	}{
		"a prompt":             {"'model'", `return await this.api.askModel('a {b} $(c)')`, none, "ask|a {b} $(c)|", ""},
		"options":              {"'model'", `return await this.api.askModel('a', { systemPrompt: 'be brief', maxTokens: 3 })`, none, "ask|a|be brief!!!", ""},
		"the run's own":        {"'model'", `return await this.api.askModel('a')`, engine.WithAskModel(func(context.Context, call.ModelRequest) (string, error) { return "mine", nil }), "mine", ""},
		"no permission":        {"'tool:model'", `return await this.api.askModel('a')`, none, "", "Permission not granted: model"},
		"no prompt":            {"'model'", `return await this.api.askModel()`, none, "", "prompt must be a text"},
		"no tokens":            {"'model'", `return await this.api.askModel('a', { maxTokens: 0 })`, none, "", "maxTokens must be a whole number above 0"},
		"an error":             {"'model'", `return await this.api.askModel('fail')`, none, "", "cannot ask a language model: it is busy"},
		"a long answer":        {"'model'", `return await this.api.askModel('long')`, none, "", "larger than 1 MiB"},
		"a long prompt":        {"'model'", `return await this.api.askModel('x'.repeat(5000000))`, none, "", "larger than 4 MiB"},
		"twenty":               {"'model'", `for (let i = 0; i < 20; i++) await this.api.askModel('a'); return 'done'`, none, "done", ""},
		"more than twenty":     {"'model'", `await Promise.all(Array.from({ length: 21 }, () => this.api.askModel('a')))`, none, "", "already asked 20 times"},
		"the answer is a text": {"'model'", `return typeof await this.api.askModel('{"x": 1}')`, none, "string", ""},
	} {
		t.Run(name, func(t *testing.T) {
			eng := engine.New(engine.Config{JavaScript: scripts, AskModel: echo})
			check(t, eng, scripts, strings.NewReplacer("PERMISSION", c.permission, "CODE", c.code).Replace(askTool), c.option, c.output, c.fails)
		})
	}
	t.Run("no model", func(t *testing.T) {
		eng := engine.New(engine.Config{JavaScript: scripts})
		check(t, eng, scripts, strings.NewReplacer("PERMISSION", "'model'", "CODE", `return await this.api.askModel('a')`).Replace(askTool), none, "", "tools.samplingCommand")
	})
	t.Run("a secret is masked", func(t *testing.T) {
		var asked string
		ask := engine.WithAskModel(func(_ context.Context, r call.ModelRequest) (string, error) {
			asked = r.Prompt + r.SystemPrompt
			return "ok", nil
		})
		eng := engine.New(engine.Config{JavaScript: scripts})
		check(t, eng, scripts, strings.NewReplacer("PERMISSION", "'model'", "CODE", `const k = this.api.environment.get('API_TOKEN'); return await this.api.askModel('key ' + k, { systemPrompt: k })`).Replace(askTool), ask, "ok", "")
		if strings.Contains(asked, "hidden-key") || !strings.HasPrefix(asked, "key *") {
			t.Errorf("the model reads %q", asked)
		}
	})
}

// check runs a definition and checks its output, or why it fails.
func check(t *testing.T, eng *engine.Engine, scripts *hooks.Runtime, text string, o engine.RunOption, output, fails string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "ask.tool.js")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	lib := library.New(library.Config{WorkingDirectory: dir, Home: dir})
	lib.Handle(".tool.js", hooks.Loader(hooks.LoaderConfig{Runtime: scripts}))
	plan, err := engine.Compile(lib, file)
	if err != nil {
		t.Fatal(err)
	}
	res, err := eng.Run(t.Context(), plan, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	if fails == "" && (res.Err() != nil || res.Output != output) {
		t.Errorf("%q, %v, want %q", res.Output, res.Err(), output)
	}
	if fails != "" && (res.Err() == nil || !strings.Contains(res.Steps[0].Message, fails)) {
		t.Errorf("%q, %q, want the error %q", res.Output, res.Steps[0].Message, fails)
	}
}
