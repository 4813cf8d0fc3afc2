package jsrun

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/js/bundle"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// seenNames returns what a tool sees: the members of this.api and of the objects in it, under the names of their
// interfaces, and the global names.
const seenNames = `export default {
  getMetadata: () => ({ id: 't', description: 'd' }),
  execute () {
    const of = o => Object.getOwnPropertyNames(o)
    const { logger, environment, storage } = this.api
    return { Api: of(this.api), Logger: of(logger), Environment: of(environment), Storage: of(storage), globals: of(globalThis) }
  }
}`

func namesSeen(t *testing.T) (names map[string][]string) {
	t.Helper()
	r := New(Config{Timeout: patience})
	defer r.Close()
	file := filepath.Join(t.TempDir(), "t.tool.js")
	result, bad := (&bundle.Bundler{}).Bundle(bundle.Request{File: file, Source: []byte(seenNames)})
	if bad.Err() != nil {
		t.Fatal(bad)
	}
	raw, err := r.Call(context.Background(), Call{Script: CompileModule(&tool.Module{File: file, Code: result.Code, Map: result.Map}), Entry: "execute"})
	if err == nil {
		err = json.Unmarshal(raw, &names)
	}
	if err != nil {
		t.Fatal(err)
	}
	return names
}

const declarations = "../../lang/scaffold/types/tool.d.ts"

// TestDeclarations: the TypeScript declarations have the members that a tool sees, and no others, and declare no global
// name that it does not see.
func TestDeclarations(t *testing.T) {
	text, err := os.ReadFile(declarations)
	if err != nil {
		t.Fatal(err)
	}
	seen := namesSeen(t)
	for name, members := range seen {
		if name == "globals" {
			continue
		}
		_, body, _ := strings.Cut(string(text), "export interface "+name+" {\n")
		body, _, _ = strings.Cut(body, "\n}\n")
		if diff := cmp.Diff(sorted(members), declared(`(?m)^  (?:readonly )?(\w+)[(:?]`, body)); diff != "" {
			t.Errorf("%s (-seen +declared):\n%s", name, diff)
		}
	}
	_, globals, _ := strings.Cut(string(text), "declare global {\n")
	own := declared(`(?m)^  (?:function|const) (\w+)`, globals)
	for _, name := range own {
		if !slices.Contains(seen["globals"], name) {
			t.Errorf("the global name %s is declared, but a tool does not see it", name)
		}
	}
	if len(own) < 5 {
		t.Errorf("only %d global names: %q", len(own), own)
	}
}

func declared(pattern, text string) (names []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return sorted(names)
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }
