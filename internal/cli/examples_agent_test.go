package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAgentExample calls the example for models as examples/README.md describes: with arguments
// written as a Python call, which are repaired, and with arguments that are ambiguous and so
// rejected.
func TestAgentExample(t *testing.T) {
	readme := inAgentExample(t)
	row := regexp.MustCompile("`cd agent; flowrun call ([^ ]+) \"([^\"]+)\" (--auto-approve [^`]+)`").FindStringSubmatch(readme)
	if row == nil {
		t.Fatal("examples/README.md does not say how to call it")
	}
	if out, narration, code := flowrunIn(t, "", "validate", "--strict", "./notes.yaml", "./worst.md", "./count.tool.js"); code != 0 {
		t.Errorf("validate: exit code %d: %s%s", code, out, narration)
	}
	if out, narration, code := flowrunIn(t, "", "tool", "test", "./notes.yaml"); code != 0 || strings.Contains(out, "skip") {
		t.Errorf("tool test: exit code %d: %s%s", code, out, narration)
	}
	call := append([]string{"call", row[1], row[2]}, strings.Fields(row[3])...)
	for _, c := range []struct {
		name, arguments string
		code            int
		status, says    string
	}{
		{"as a call in Python", row[2], 0, "success", "2\t"},
		{"cut off", strings.TrimSuffix(row[2], ")"), 6, "refused", "Reason"},
		{"calculated", "{folder: 'src', top: 1+1}", 6, "refused", "top"},
	} {
		t.Run(c.name, func(t *testing.T) {
			call[2] = c.arguments
			out, narration, code := flowrunIn(t, "", call...)
			var answer struct {
				Status  string `json:"execution_status"`
				Content string `json:"llmContent"`
			}
			if err := json.Unmarshal([]byte(out), &answer); err != nil || code != c.code || answer.Status != c.status || !strings.Contains(answer.Content, c.says) {
				t.Errorf("exit code %d, %v: %s%s", code, err, out, narration)
			}
		})
	}
}

// TestAgentServerExample calls the example that uses a tool of an MCP server, as examples/README.md
// describes.
func TestAgentServerExample(t *testing.T) {
	readme := inAgentExample(t)
	row := regexp.MustCompile("`cd agent; flowrun (trust); flowrun (run [^`]+)`").FindStringSubmatch(readme)
	if row == nil {
		t.Fatal("examples/README.md does not say how to run it")
	}
	if out, narration, code := flowrunIn(t, "", "run", "./ask-owner.yaml"); code == 0 || !strings.Contains(narration, "the project is not trusted") {
		t.Errorf("before it is trusted: exit code %d: %s%s", code, out, narration)
	}
	for _, c := range []struct {
		line, says string
	}{{row[1], ""}, {"validate --strict ./ask-owner.yaml", ""}, {"mcp test", "team: ok"}, {row[2], "shop.py has 2 notes; ask Grace\n"}} {
		out, narration, code := flowrunIn(t, "", strings.Fields(c.line)...)
		if code != 0 || !strings.Contains(out, c.says) || strings.Contains(out, "skip") {
			t.Errorf("%s: exit code %d: %s%s", c.line, code, out, narration)
		}
	}
}

// inAgentExample makes a copy of the example for models the working directory, and returns
// examples/README.md.
func inAgentExample(t *testing.T) string {
	t.Helper()
	source, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(source, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := ownFolders(t)
	if err := os.CopyFS(filepath.Join(dir, "agent"), os.DirFS(filepath.Join(source, "agent"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, "agent"))
	return string(readme)
}
