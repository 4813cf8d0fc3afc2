package tools

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/library"
)

// namesInFolders finds files in one folder that define tools with the same name. Only one of them can
// be found by that name. It maps folder and name to the file that was seen first.
type namesInFolders map[[2]string]string

// other returns a file in the same folder that defines a tool of the same name, or "".
func (ids namesInFolders) other(file, name string) string {
	key := [2]string{filepath.Dir(file), name}
	first, seen := ids[key]
	if !seen {
		ids[key] = file
	}
	if first == file {
		return ""
	}
	return first
}

// checkDuplicate adds a problem if another file in the folder defines a tool of the same name.
func (v *validation) checkDuplicate(t target, def *tool.Definition, found tool.Diagnostics) {
	if def.Name == "" || slices.ContainsFunc(found, func(d tool.Diagnostic) bool { return d.Code == "not-a-tool" }) {
		return
	}
	other := v.ids.other(def.File, def.Name)
	if other == "" && tool.Extension(t.name) == "" && !strings.ContainsAny(t.name, `/\`) { // a name, which means both
		for _, e := range v.lib.List() {
			if e.Name == def.Name && e.Path != def.File && filepath.Dir(e.Path) == filepath.Dir(def.File) {
				other = e.Path
			}
		}
	}
	if other == "" {
		return
	}
	at := def.Pos
	if at.Line == 0 {
		at = tool.Pos{File: def.File, Line: 1, Col: 1}
	}
	v.found = append(v.found, tool.Diagnostic{Code: "duplicate-tool", Severity: tool.Error, Pos: at,
		Message: fmt.Sprintf("two files in one folder define the tool %s: %s and %s", def.Name, filepath.Base(other), filepath.Base(def.File)),
		Hint:    "give one of them another name or id, or remove it"})
}

// warnDuplicates warns of tools that are defined in two files of one folder. In list, the file that
// is used must precede the others.
func warnDuplicates(env *ui.Env, list []library.Listed) {
	ids := make(namesInFolders, len(list))
	for _, e := range list {
		if e.Path == "" {
			continue
		}
		if first := ids.other(e.Path, e.Name); first != "" {
			env.Notef("two files in one folder define the tool %s: %s is used, and %s is ignored; give one of them another name or id", console.Clean(e.Name), console.ShortPath(first), console.ShortPath(e.Path))
		}
	}
}
