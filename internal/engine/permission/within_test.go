package permission

import (
	"slices"
	"strings"
	"testing"
)

// A tool that another one uses has the permissions that both list, in their narrower form.
func TestWithin(t *testing.T) {
	for _, c := range []struct{ inner, outer, want string }{
		{"", "network", ""},
		{"network", "", ""},
		{"model", "model", "model"},
		{"filesystem:read:/a", "filesystem:read:/a", "filesystem:read:/a"},
		{"filesystem:read:/a/b", "filesystem:read:/a", "filesystem:read:/a/b"},
		{"filesystem:read:/a", "filesystem:read:/a/b", "filesystem:read:/a/b"},
		{"filesystem:read:/ab", "filesystem:read:/a", ""},
		{"filesystem:read:/a/../b", "filesystem:read:/a", ""},
		{"filesystem:read:/a", "filesystem:write:/a", "filesystem:read:/a"},
		{"filesystem:write:/a", "filesystem:read:/a/b", "filesystem:read:/a/b"},
		{"filesystem:execute:/a", "filesystem:write:/a", ""},
		{"filesystem:read:a", "filesystem:read:/", ""},
		{"filesystem:execute:/usr/bin/git", "filesystem:execute:/usr", "filesystem:execute:/usr/bin/git"},
		{"network", "network:external:a.example", "network:external:a.example"},
		{"network:external:a.example", "network", "network:external:a.example"},
		{"network:external:a.example", "network:external", "network:external:a.example"},
		{"network:external:a.example", "network:external:a.example:443", "network:external:a.example:443"},
		{"network:external:a.example:443", "network:external:a.example", "network:external:a.example:443"},
		{"network:external:a.example", "network:external:b.example", ""},
		{"network:external:a.example", "network:local:a.example", ""},
		{"network:local", "network:external", ""},
		{"tool:git-push", "tool:git-*", "tool:git-push"},
		{"tool:*", "tool:git-push", "tool:git-push"},
		{"tool:a", "tool:b", ""},
		{"environment:A environment:B", "environment:B environment:C", "environment:B"},
		{"filesystem:read:/a filesystem:read:/b network", "filesystem:read:/ network:local", "filesystem:read:/a filesystem:read:/b network:local"},
	} {
		got := Grants(strings.Fields(c.inner)).Within(strings.Fields(c.outer))
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%q within %q: %q, want %q", c.inner, c.outer, got, want)
		}
	}
}
