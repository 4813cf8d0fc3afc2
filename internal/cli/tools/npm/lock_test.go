package npm

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// A lock file can name only packages of the registry.
func TestLockEntries(t *testing.T) {
	const good = `{"version": "1.2.3", "resolved": "https://registry.example/a.tgz", "integrity": "sha512-x", "dependencies": {"b": "^1 || >=2.0.0-0", "c": "npm:d@^4.2.0", "e": "*"}}`
	for name, c := range map[string]struct {
		path, entry string
		ok          bool
	}{
		"a package":                      {"node_modules/a", good, true},
		"a package of a package":         {"node_modules/a/node_modules/@s/b", good, true},
		"a folder":                       {"packages/a", good, false},
		"a folder above":                 {"node_modules/../../a", good, false},
		"a link":                         {"node_modules/a", `{"resolved": "../a", "link": true}`, false},
		"a repository":                   {"node_modules/a", `{"version": "git+ssh://git@example.com/a.git#1"}`, false},
		"no version":                     {"node_modules/a", `{}`, false},
		"null":                           {"node_modules/a", `null`, false},
		"a dependency on a repository":   {"node_modules/a", `{"version": "1.0.0", "dependencies": {"b": "github:o/b"}}`, false},
		"a dependency on an address":     {"node_modules/a", `{"version": "1.0.0", "optionalDependencies": {"b": "https://example.com/b.tgz"}}`, false},
		"an alias of a repository":       {"node_modules/a", `{"version": "1.0.0", "peerDependencies": {"b": "npm:c@git://x"}}`, false},
		"a root that wants a repository": {"", `{"dependencies": {"b": "file:/etc"}}`, false},
	} {
		lock, err := readNPMLock([]byte(`{"lockfileVersion": 3, "packages": {"` + c.path + `": ` + c.entry + `}}`))
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && lock.Packages[c.path]["resolved"] != nil {
			t.Errorf("%s: the address is kept", name)
		}
		if err != nil && !strings.Contains(err.Error(), "remove the lock file") {
			t.Errorf("%s: no way out: %v", name, err)
		}
	}
	for _, text := range []string{``, `[]`, `{}`, `{"lockfileVersion": 1, "packages": {}}`, `{"lockfileVersion": 3}`} {
		if _, err := readNPMLock([]byte(text)); err == nil {
			t.Errorf("%q is a lock file", text)
		}
	}
}

// A lock file fits if it was made for the same ranges.
func TestLockFits(t *testing.T) {
	lock, err := readNPMLock([]byte(`{"lockfileVersion": 3, "packages": {"": {"dependencies": {"a": "^1.0.0"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		list []tool.Dependency
		want bool
	}{
		{[]tool.Dependency{{Name: "a", Range: "^1.0.0"}}, true},
		{[]tool.Dependency{{Name: "a", Range: "^1.1.0"}}, false},
		{[]tool.Dependency{{Name: "a", Range: "^1.0.0"}, {Name: "b", Range: "1"}}, false},
		{nil, false},
	} {
		if got := lock.fits(c.list); got != c.want {
			t.Errorf("%v: %v", c.list, got)
		}
	}
}
