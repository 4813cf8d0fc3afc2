package tool

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/npmtest"
)

// TestReadByLanguageServer: the YAML language server of editors has nothing against a definition that flowrun runs, and
// finds what the schema can say of the wrong ones.
func TestReadByLanguageServer(t *testing.T) {
	npm := npmtest.Install(t, "yaml-language-server@2.0.0")
	texts, mustFind := map[string]string{}, map[string]bool{}
	for name, src := range publishedDefinitions(t) {
		texts[name] = string(src)
	}
	files, err := filepath.Glob("../*/testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		texts[file] = string(readFile(t, file))
		content, isYAML := fromYAML([]byte(texts[file])) // the server says nothing of a file without content
		mustFind[file] = isYAML && content != nil && !slices.Contains(blind, strings.TrimSuffix(filepath.Base(file), ".yaml"))
	}
	alarms, found, missed := 0, 0, 0
	for name, said := range languageServer(t, npm, texts) {
		_, ds := DecodeDocument(name, []byte(texts[name]))
		repaired := slices.ContainsFunc(ds, func(d Diagnostic) bool { return strings.HasPrefix(d.Code, "repaired-") }) // it is not YAML
		switch {
		case ds.Err() == nil && len(said) > 0 && !repaired:
			alarms++
			t.Errorf("%s: %q", name, said)
		case ds.Err() == nil:
		case len(said) > 0:
			found++
		default:
			missed++
			if mustFind[name] {
				t.Errorf("%s: the language server says nothing; flowrun says %v", name, ds)
			}
		}
	}
	t.Logf("%d definitions: %d alarms; of the wrong ones %d found, %d missed", len(texts), alarms, found, missed)
}

// languageServer returns what the language server says of each text.
func languageServer(t *testing.T, npm npmtest.Modules, texts map[string]string) (said map[string][]string) {
	t.Helper()
	dir := npm.Dir()
	for file, v := range map[string]any{"schema.json": Schema(), "texts.json": texts} {
		b, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	script := filepath.Join(dir, "check.mjs")
	if err := os.WriteFile(script, readFile(t, "testdata/language-server.mjs"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := npm.Node(dir, script, "schema.json", "texts.json")
	if err == nil {
		err = json.Unmarshal([]byte(out), &said)
	}
	if err != nil || len(said) != len(texts) {
		t.Fatalf("%d answers for %d texts: %v\n%.2000s", len(said), len(texts), err, out)
	}
	return said
}

// publishedDefinitions are those of definitions, and those in pages and in explanations.
func publishedDefinitions(t *testing.T) map[string][]byte {
	all := definitions(t)
	block := regexp.MustCompile("(?s)\n```yaml\n(.*?)\n```")
	body := regexp.MustCompile(`(?m)^(bash|sh|run|steps|js|python|script|type):`)
	for _, glob := range []string{"../../../docs/*/*.md", "../explain/pages/*.md", "../../../README.md"} {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s: %v", glob, err)
		}
		for _, file := range files {
			for i, m := range block.FindAllSubmatch(readFile(t, file), -1) {
				if body.Match(m[1]) { // other blocks are parts, or settings
					all[fmt.Sprintf("%s/%d", file, i+1)] = append(m[1], '\n')
				}
			}
		}
	}
	return all
}
