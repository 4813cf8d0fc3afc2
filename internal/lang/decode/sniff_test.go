package decode

import "testing"

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
