package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/docs"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/os/ownership"
	"github.com/flowrun/flowrun/library"
)

// checkDiscovery runs the command tools.discoveryCommand, if there is one. It precedes the checks
// that look for tools: they would run the command and print its problems, which it reports.
func checkDiscovery(env *ui.Env) []finding {
	c, err := ui.LoadSettings(false)
	if err != nil || c.Word("tools.discoveryCommand") == "" {
		return nil // checkSettings reports it, and whether the project is trusted
	}
	t := env.Discover(c)
	if t.Err != nil {
		return []finding{warning("discovery", "fix the command; it must print a JSON array of declarations", "%v", t.Err)}
	}
	list := []finding{passed("discovery", "%s in %v", plural.Of(len(t.Tools), "tool"), t.Elapsed.Round(time.Millisecond))}
	for _, w := range t.Warnings {
		list = append(list, warning("discovery", "", "%s", w))
	}
	return list
}

// checkScopes checks the folders in which flowrun finds tools.
func checkScopes(env *ui.Env) []finding {
	lib := env.Library()
	count := map[string]int{}
	for _, e := range lib.List() {
		count[filepath.Dir(e.Path)]++
	}
	var list []finding
	var missing []string
	for _, f := range lib.Folders() {
		_, err := os.ReadDir(f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, fmt.Sprintf("%s (%s)", f.Path, f.Scope))
		case err != nil:
			list = append(list, failed("tools", "make it readable", "cannot read the folder of %s tools: %v", f.Scope, err))
		default:
			list = append(list, passed("tools", "%s: %s in %s", f.Scope, plural.Of(count[f.Path], "definition"), f.Path))
		}
	}
	for _, message := range ownership.Ignored() {
		list = append(list, warning("owners", "flowrun trust --help explains when this is safe", "%s", message))
	}
	if len(list) == 0 {
		list = append(list, warning("tools", "flowrun init creates examples", "found no tools in %s", strings.Join(missing, ", ")))
	}
	return list
}

// checkDefinitions reports invalid definitions, warnings and shadowed tools.
func checkDefinitions(env *ui.Env) []finding {
	lib := env.Library()
	var invalid, warned, shadowed []string
	n := 0
	for _, e := range lib.List() {
		n++
		if e.ShadowedBy != "" {
			shadowed = append(shadowed, e.Path)
		}
		switch p, err := engine.Compile(lib, e.Path); {
		case err != nil:
			invalid = append(invalid, e.Path)
		case len(p.Warnings) > 0:
			warned = append(warned, e.Path)
		}
	}
	var list []finding
	if len(invalid) > 0 {
		list = append(list, failed("definitions", "for the errors: flowrun validate", "invalid: %s", ui.Listed(invalid)))
	}
	if len(warned) > 0 {
		list = append(list, warning("definitions", "for the warnings: flowrun validate", "have warnings: %s", ui.Listed(warned)))
	}
	if len(shadowed) > 0 {
		list = append(list, warning("definitions", "rename one of the two, or run the file by its path", "shadowed by another tool with the same name: %s", ui.Listed(shadowed)))
	}
	if len(list) == 0 && n > 0 {
		list = append(list, passed("definitions", "all valid"))
	}
	return list
}

// modeline begins the comment with which a definition names its schema for editors.
const modeline = "# yaml-language-server: $schema="

// checkSchemas checks the schema files that definitions name for editors.
func checkSchemas(env *ui.Env) []finding {
	fresh, err := docs.Schema("tool")
	if err != nil {
		return []finding{failed("schema", "", "%v", err)}
	}
	var missing, outdated []string
	for _, e := range env.Library().List() {
		file := schemaOf(e)
		if file == "" {
			continue
		}
		switch text, err := os.ReadFile(file); {
		case err != nil:
			missing = append(missing, e.Path)
		case !bytes.Equal(text, fresh):
			outdated = append(outdated, file)
		}
	}
	var list []finding
	if len(missing) > 0 {
		list = append(list, warning("schema", "create it: flowrun schema tool > FILE", "these definitions refer to a schema file that does not exist: %s", ui.Listed(missing)))
	}
	slices.Sort(outdated)
	if outdated = slices.Compact(outdated); len(outdated) > 0 {
		list = append(list, warning("schema", "update it: flowrun schema tool > FILE", "differs from the schema of this version: %s", ui.Listed(outdated)))
	}
	return list
}

// schemaOf returns the file that the modeline of a definition names, or "" if there is no modeline
// or it names a URL.
func schemaOf(e library.Listed) string {
	if e.Path == "" {
		return ""
	}
	text := ui.ReadSource(e.Path)
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			return ""
		}
		if to, ok := strings.CutPrefix(strings.TrimSpace(line), modeline); ok {
			if strings.Contains(to, "://") || to == "" {
				return ""
			}
			return resolvePath(filepath.Dir(e.Path), filepath.FromSlash(to))
		}
	}
	return ""
}

func resolvePath(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
