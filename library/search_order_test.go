package library

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// TestSearchOrder checks the folders in which a name in a definition is looked up: a tool outside the project finds those
// of the project last.
func TestSearchOrder(t *testing.T) {
	t.Parallel()
	at := func(path string) string { return filepath.FromSlash(path) }
	local, user, global := folder{tool.ScopeLocal, at("/p/.flowrun/tools")}, folder{tool.ScopeUser, at("/home/.config/flowrun/tools")}, folder{tool.ScopeGlobal, at("/etc/flowrun/tools")}
	all := folders{local, user, global}
	for name, c := range map[string]struct {
		from        *tool.Definition
		first, last folders
	}{
		"a caller":                    {nil, all, nil},
		"a tool made in Go":           {&tool.Definition{}, all, nil},
		"a tool of the project":       {&tool.Definition{File: at("/p/.flowrun/tools/a.yaml"), Scope: tool.ScopeLocal}, all, nil},
		"a path in the project":       {&tool.Definition{File: at("/p/sub/a.yaml"), Scope: tool.ScopeFile}, folders{{tool.ScopeFile, at("/p/sub")}, local, user, global}, nil},
		"a tool of the user":          {&tool.Definition{File: at("/home/.config/flowrun/tools/a.yaml"), Scope: tool.ScopeUser}, folders{user, global}, folders{local}},
		"a folder in that":            {&tool.Definition{File: at("/home/.config/flowrun/tools/x/a.yaml"), Scope: tool.ScopeFile}, folders{{tool.ScopeFile, at("/home/.config/flowrun/tools/x")}, user, global}, folders{local}},
		"a tool of the machine":       {&tool.Definition{File: at("/etc/flowrun/tools/a.yaml"), Scope: tool.ScopeGlobal}, folders{global, user}, folders{local}},
		"a path outside of them":      {&tool.Definition{File: at("/tmp/a.yaml"), Scope: tool.ScopeFile}, folders{{tool.ScopeFile, at("/tmp")}, user, global}, folders{local}},
		"a folder with a longer name": {&tool.Definition{File: at("/p2/a.yaml"), Scope: tool.ScopeFile}, folders{{tool.ScopeFile, at("/p2")}, user, global}, folders{local}},
	} {
		if first, last := all.searchOrder(c.from); !slices.Equal(first, c.first) || !slices.Equal(last, c.last) {
			t.Errorf("%s: %v, then %v", name, first, last)
		}
	}
	if !all.has(user.path) || all.has(at("/tmp")) {
		t.Error("the wrong folders are always searched")
	}
}
