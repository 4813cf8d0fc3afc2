package enginetest

import (
	"context"
	"github.com/flowrun/flowrun/internal/engine"
	"os"
	"regexp"
	"testing"
)

// TestLoopDocs runs the examples of the pages about loops, handlers, scripts and polling: each prints
// what the page says.
func TestLoopDocs(t *testing.T) {
	t.Parallel()
	example := regexp.MustCompile("(?s)```yaml\nname: ([a-z-]+)\n(.*?)```\n\n```text\n(.*?)```\n")
	for _, page := range []string{"docs/reference/loops.md", "docs/reference/handlers.md", "docs/reference/javascript.md", "docs/reference/polling.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		all := example.FindAllStringSubmatch(string(text), -1)
		if want := len(regexp.MustCompile("(?m)^```yaml$").FindAll(text, -1)); len(all) != want {
			t.Errorf("%s: %d examples have an output, of %d", page, len(all), want)
		}
		for _, x := range all {
			t.Run(x[1], func(t *testing.T) {
				b := newBed(t)
				p, err := engine.Compile(b.lib, b.file(x[1]+".yaml", "name: "+x[1]+"\n"+x[2]))
				if err != nil {
					t.Fatal(err)
				}
				if len(p.Warnings) > 0 {
					t.Error(p.Warnings)
				}
				res, err := engine.New(b.config).Run(context.Background(), p, nil, engine.WithRunEnv(b.world))
				if err != nil {
					t.Fatal(err)
				}
				if got := regexp.MustCompile("([^\n])$").ReplaceAllString(res.Output, "$1\n"); got != x[3] {
					t.Errorf("%s %s: prints\n%s, want\n%s", res.Status, res.Message, got, x[3])
				}
			})
		}
	}
}
