package timetable

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/shellword"
	"github.com/flowrun/flowrun/library"
)

// MissingTool returns a sentence about an added schedule whose tool was removed or renamed, with the
// way out, and "" for any other entry.
func (e Entry) MissingTool() string {
	if !e.toolMissing {
		return ""
	}
	return fmt.Sprintf("schedule %s cannot run: its tool %s does not exist any more; add the tool again, or remove the schedule: flowrun schedule remove %s",
		e.Title, diagnostic.Quote(e.Tool), shellword.Sh(e.Title))
}

// MissingTools returns what MissingTool says of each entry.
func (t *Timetable) MissingTools() (list []string) {
	for _, e := range t.All() {
		if text := e.MissingTool(); text != "" {
			list = append(list, text)
		}
	}
	return list
}

// lacksTool reports whether the service that fires an added schedule could not find its tool. A tool
// that is invalid, or that may come from a program which cannot be asked now, is not missing.
func lacksTool(lib *library.Library, e Entry) bool {
	if e.Project == "" || e.Project == ProjectHere() {
		_, _, err := lib.Lookup(e.Tool, nil)
		missing, ok := errors.AsType[*library.NotFoundError](err)
		return ok && missing.Note == ""
	}
	for _, dir := range []string{".flowrun", ".cycod"} {
		list, err := lib.ListFolder(filepath.Join(e.Project, dir, "tools"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) || slices.ContainsFunc(list, func(l library.Listed) bool { return l.Name == e.Tool }) {
			return false
		}
	}
	for _, scope := range []tool.Scope{tool.ScopeUser, tool.ScopeGlobal} {
		_, _, err := lib.LookupIn(e.Tool, scope)
		if _, missing := errors.AsType[*library.NotFoundError](err); !missing {
			return false
		}
	}
	return true
}
