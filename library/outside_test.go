package library

import (
	"errors"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// TestLookupFromOutside: what the tools of the user and of the machine name is looked for
// outside of the project first, and in the project only if it is trusted.
func TestLookupFromOutside(t *testing.T) {
	h := newMachine(t)
	h.write("repo/.git/HEAD", "")
	for _, name := range []string{"a", "b", "c", "d", "built"} {
		h.tool("repo/.flowrun/tools/"+name+".yaml", name)
	}
	h.tool("home/.config/flowrun/tools/a.yaml", "a")
	h.tool("home/.cycod/tools/b.yaml", "b")
	h.tool("global/c.yaml", "c")
	h.tool("home/.config/flowrun/tools/sub/below.yaml", "below")
	h.tool("elsewhere/far.yaml", "far")
	h.tool("elsewhere/a.yaml", "a")
	h.tool("repo/sub/near.yaml", "near")
	for _, trusted := range []bool{false, true} {
		lib := h.library()
		var asked string
		lib.trusted = func(project string) bool { asked = project; return trusted }
		lib.Provide(tool.ScopeBuiltin, func() []*tool.Definition { return []*tool.Definition{{Name: "built"}} })
		load := func(file string) *tool.Definition {
			def, _, err := lib.Load(h.path(file))
			if err != nil {
				t.Fatal(err)
			}
			return def
		}
		user, _, err := lib.LookupIn("a", tool.ScopeUser)
		if err != nil {
			t.Fatal(err)
		}
		global, _, err := lib.LookupIn("c", tool.ScopeGlobal)
		if err != nil {
			t.Fatal(err)
		}
		local, _, err := lib.LookupIn("a", tool.ScopeLocal)
		if err != nil {
			t.Fatal(err)
		}
		below, far, near := load("home/.config/flowrun/tools/sub/below.yaml"), load("elsewhere/far.yaml"), load("repo/sub/near.yaml")
		for _, c := range []struct {
			from *tool.Definition
			name string
			want string // the end of the file, or the scope
		}{
			{nil, "a", "repo/.flowrun/tools/a.yaml"},
			{local, "a", "repo/.flowrun/tools/a.yaml"},
			{near, "a", "repo/.flowrun/tools/a.yaml"},
			{user, "a", "home/.config/flowrun/tools/a.yaml"},
			{user, "b", "home/.cycod/tools/b.yaml"},
			{user, "c", "global/c.yaml"},
			{user, "built", "builtin"},
			{global, "a", "home/.config/flowrun/tools/a.yaml"},
			{global, "built", "builtin"},
			{below, "a", "home/.config/flowrun/tools/a.yaml"},
			{below, "built", "builtin"},
			{far, "a", "elsewhere/a.yaml"},
			{far, "b", "home/.cycod/tools/b.yaml"},
			{local, "built", "repo/.flowrun/tools/built.yaml"},
		} {
			def, _, err := lib.Lookup(c.name, c.from)
			if err != nil || !strings.HasSuffix(def.File, c.want) && string(def.Scope) != c.want {
				t.Errorf("trusted %v: %q from %v is %+v, %v; want %s", trusted, c.name, c.from, def, err, c.want)
			}
		}
		for _, from := range []*tool.Definition{user, global, below, far} {
			def, _, err := lib.Lookup("d", from)
			var missing *NotFoundError
			switch {
			case trusted && err == nil && def.Scope == tool.ScopeLocal && asked == h.path("repo"):
			case !trusted && errors.As(err, &missing) && strings.Contains(missing.Note, "only if you trust the project"):
			default:
				t.Errorf("trusted %v: d from %s is %+v, %v", trusted, from.File, def, err)
			}
		}
	}
}
