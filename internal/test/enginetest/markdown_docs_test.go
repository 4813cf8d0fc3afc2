package enginetest

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
)

// TestMarkdownDocument tries every example of docs/reference/markdown.md: pages and definitions are
// written down, and commands print what stands below them.
func TestMarkdownDocument(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("docs/reference/markdown.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(b), "\r\n", "\n")
	files := map[string]string{}
	for _, m := range regexp.MustCompile("(?ms)^````markdown\n(.*?)^````$").FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`(?m)^name: (.*)$`).FindStringSubmatch(m[1])[1]
		files[name+".md"] = m[1]
	}
	for _, m := range regexp.MustCompile("(?ms)^```yaml\n# file: (\\S+)\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		files[m[1]] = m[2]
	}
	p := pagesOf(t, "", files)
	runs := 0
	for _, block := range regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		for _, run := range regexp.MustCompile(`(?m)^\$ flowrun run (\S+\.md)(.*)\n((?:[^$].*\n)*)`).FindAllStringSubmatch(block[1], -1) {
			params := map[string]any{}
			for _, kv := range regexp.MustCompile(`(\w+)=("[^"]*"|\S+)`).FindAllStringSubmatch(run[2], -1) {
				value := strings.Trim(kv[2], `"`)
				switch before := params[kv[1]].(type) {
				case nil:
					params[kv[1]] = value
				case string:
					params[kv[1]] = []any{before, value}
				}
			}
			res := p.run(t, run[1], params)
			if got := strings.TrimSuffix(res.Output, "\n") + "\n"; res.Status != dag.Succeeded || got != run[3] {
				t.Errorf("%s %v: %s\n%s, want\n%s", run[1], params, res.Message, got, run[3])
			}
			runs++
		}
	}
	if len(files) < 4 || runs < 4 {
		t.Errorf("%d files and %d runs were found", len(files), runs)
	}
}
