package enginetest

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/library"
)

// docTool is one tool of docs/reference/tooljs.md.
var docTool = regexp.MustCompile("(?s)```js\n// file: (\\S+)\n(.*?)```")

// TestToolJSDocs runs the tools of docs/reference/tooljs.md, and those among the examples.
func TestToolJSDocs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	page, err := os.ReadFile("docs/reference/tooljs.md")
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(dir, ".flowrun", "tools")
	if err := os.MkdirAll(tools, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(tools, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range docTool.FindAllSubmatch(page, -1) {
		write(string(m[1]), m[2])
	}
	words, err := os.ReadFile("examples/words.tool.js")
	if err != nil {
		t.Fatal(err)
	}
	write("words.tool.js", words)

	lib := library.New(library.Config{WorkingDirectory: dir, Home: dir, Getenv: func(string) string { return "" }})
	rt := hooks.New(hooks.Config{})
	defer rt.Close()
	lib.Handle(".tool.js", hooks.Loader(hooks.LoaderConfig{Runtime: rt}))
	e := engine.New(engine.Config{StateDir: filepath.Join(dir, "state"), JavaScript: rt})
	for _, x := range []struct {
		tool   string
		params map[string]any
		want   string
	}{
		{"greet", map[string]any{"name": "Ada", "times": 2}, "Hello, Ada! Hello, Ada!"},
		{"fetch-report", nil, "report after 3 attempts"},
		{"sum", nil, `{"words":["Hello, Ada!","Hello, Grace!"],"letters":24}`},
		{"words", map[string]any{"text": "the cat and the hat", "top": 1}, `{"top":[{"word":"the","n":2}],"asked":1}`},
	} {
		plan, err := engine.Compile(lib, x.tool)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Warnings) > 0 {
			t.Error(plan.Warnings)
		}
		res, err := e.Run(context.Background(), plan, x.params)
		if err != nil || res.Status != dag.Succeeded || res.Output != x.want {
			t.Errorf("%s: %v %+v", x.tool, err, res)
		}
	}
}
