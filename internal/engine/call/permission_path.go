package call

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// unknownPart stands for a value of the caller in the path of a permission.
const unknownPart = "\uE000"

// beforeValues is a scope in which only what the caller cannot choose has a value.
type beforeValues struct{ Scope }

func (b beforeValues) Lookup(r expr.Ref) (expr.Value, error) {
	if r.Class == expr.Variable {
		return b.Scope.Lookup(r)
	}
	return expr.Value{V: unknownPart, Author: true}, nil
}

// leadsAway reports whether the caller's values lead the path of a permission to where its author did not mean it: out of
// the folder that is written before them, with .. or a link, or to the files that decide what calls may do.
func (a *Frame) leadsAway(t *expr.Template, resolved string) bool {
	if !strings.HasPrefix(resolved, "filesystem:") || !slices.ContainsFunc(t.Sources(), func(r expr.Ref) bool { return r.Class != expr.Variable }) {
		return false
	}
	path := pathOf(resolved)
	if slices.ContainsFunc(a.RunEnv.Own, func(own string) bool { return own != "" && (isIn(path, own) || isIn(own, path)) }) || isProjectsOwn(path) {
		return true
	}
	text, err := t.Text(beforeValues{Scope{Frame: a}})
	if err != nil {
		return true
	}
	before, _, _ := strings.Cut(pathOf(text), unknownPart)
	if before == "" { // the whole path is the caller's
		return false
	}
	folder := "."
	if i := strings.LastIndexAny(before, `/\`); i >= 0 {
		folder = before[:i+1]
	}
	return !isIn(path, pathOf(resolvePermission(a.RunEnv, permission.ReadPrefix+folder)))
}

// pathOf returns the path of a permission for files.
func pathOf(p string) string {
	parts := strings.SplitN(p, ":", 3)
	return parts[len(parts)-1]
}

// isIn reports whether a path is a folder or in it.
func isIn(path, folder string) bool {
	rest, err := filepath.Rel(permission.RealPath(folder), path)
	return err == nil && filepath.IsLocal(rest)
}

// isProjectsOwn reports whether a path is in a folder with the settings and tools of a project.
func isProjectsOwn(path string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), func(part string) bool {
		return strings.EqualFold(part, ".flowrun") || strings.EqualFold(part, ".cycod")
	})
}
