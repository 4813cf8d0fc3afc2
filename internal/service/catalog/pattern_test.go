package catalog

import "testing"

// TestMatchesAny: which names a list of patterns has.
func TestMatchesAny(t *testing.T) {
	for _, c := range []struct {
		patterns []string
		name     string
		want     bool
	}{
		{nil, "deploy", false}, {[]string{"deploy"}, "deploy", true}, {[]string{"dep"}, "deploy", false}, {[]string{"build", "dep*"}, "deploy", true},
		{[]string{"d?ploy"}, "deploy", true}, {[]string{"*"}, "a.b", true}, {[]string{"Deploy"}, "deploy", false}, {[]string{"[a-d]*"}, "deploy", true},
	} {
		if got := MatchesAny(c.patterns, c.name); got != c.want {
			t.Errorf("%q, %s: got %v", c.patterns, c.name, got)
		}
	}
	for pattern, valid := range map[string]bool{"a*": true, "[a-": false, "[": false, "a?": true} {
		if err := CheckPattern(pattern); (err == nil) != valid {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// TestIsPath: a path is not the name of a tool that is offered.
func TestIsPath(t *testing.T) {
	for name, want := range map[string]bool{"deploy": false, "v1.2": false, "deploy.yaml": true, "deploy.YML": true, "a.tool.js": true, "./deploy": true, `a\b`: true} {
		if got := IsPath(name); got != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
