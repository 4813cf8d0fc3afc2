package tool

import "testing"

// TestExtension: what a file's name says of how it is written, and what name is left.
func TestExtension(t *testing.T) {
	for file, want := range map[string][2]string{
		"deploy.yaml":      {".yaml", "deploy"},
		"a/b.YML":          {".yml", "b"},
		"search.md":        {".md", "search"},
		"mail.tool.js":     {".tool.js", "mail"},
		"mail.TOOL.TS":     {".tool.ts", "mail"},
		"x.y.tool.js":      {".tool.js", "x.y"},
		"other.js":         {"", "other"},
		"v1.2":             {"", "v1"},
		"-":                {"", ""},
		"-.md":             {".md", ""},
		"":                 {"", ""},
		"dir.md/plain":     {"", "plain"},
		".tool.js":         {".tool.js", ""},
		"äöü.tool.js":      {".tool.js", "äöü"},
		"/tmp/t.json":      {".json", "t"},
		"notes.md.rej":     {"", "notes.md"},
		"tool.js":          {"", "tool"},
		"retool.jsx":       {"", "retool"},
		"two.yaml.tool.js": {".tool.js", "two.yaml"},
	} {
		if got := [2]string{Extension(file), Stem(file)}; got != want {
			t.Errorf("%q: got %q, want %q", file, got, want)
		}
	}
}
