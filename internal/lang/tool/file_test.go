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

// TestSniff: how a text is written that comes without a name.
func TestSniff(t *testing.T) {
	for text, want := range map[string]string{
		"name: a\nbash: true":                               ".yaml",
		"---\nname: a\nbash: true\n":                        ".yaml",
		"---\nname: a\ntool: true\n":                        ".yaml", // not closed: no front matter
		"{\"name\": \"a\"}":                                 ".yaml",
		"---\ntool: true\nname: a\n---\n":                   ".md",
		"\ufeff\r\n---\r\nname: a\r\ntool: true\r\n---\r\n": ".md",
		"---\ntool:   true  \n---":                          ".md",
		"---\ntool true\nname: a\n---\n":                    ".md", // a tool with an error
		"---\nid a\ntype: single\n---\n":                    ".md",
		"---\ntitle: a: b\n---\n":                           ".yaml",
		"````markdown\n---\ntool: true\n---\n````\n":        ".md",
		"module.exports = {}":                               ".tool.js",
		"// a\nexport default {}\n":                         ".tool.js",
		"bash: |\n  echo module.exports = 1\n":              ".yaml",
		"":                                                  ".yaml",
	} {
		if got := Sniff([]byte(text)); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
