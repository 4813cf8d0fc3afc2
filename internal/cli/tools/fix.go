package tools

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/flowrun/flowrun/internal/atomicfile"
	"github.com/flowrun/flowrun/internal/autofix"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/textdiff"
	"github.com/flowrun/flowrun/internal/toolfiles"
	"github.com/flowrun/flowrun/tool"
)

// fix fixes the file of a target. With --dry-run, it collects the problems that would remain and
// returns true; otherwise the caller validates the fixed file.
func (v *validation) fix(t target) (bool, error) {
	def, _, err := v.lib.Lookup(t.name, nil)
	if err != nil || !fixable(def.File) {
		return false, nil // compiling it reports the reason
	}
	file := def.File
	src, err := os.ReadFile(file)
	if err != nil {
		return false, nil
	}
	check := v.checkFile(def)
	r := autofix.Text(check, file, src)
	if len(r.Fixed) == 0 {
		return false, nil
	}
	if !v.flags.dryRun {
		if err := atomicfile.Replace(file, src, r.Text); err != nil {
			return false, fmt.Errorf("cannot fix %q: %w", file, err)
		}
		v.env.Notef("%s: fixed %s", ui.ShortPath(file), ui.Count(len(r.Fixed), "problem"))
		v.lib = v.env.Library() // the library has read the file before the change
		return false, nil
	}
	if v.flags.output == "text" {
		if _, err := io.WriteString(v.env.Stdout, textdiff.Unified(ui.ShortPath(file), string(src), ui.ShortPath(file), string(r.Text))); err != nil {
			return false, err
		}
	} else {
		v.env.Notef("%s: %s could be fixed", ui.ShortPath(file), ui.Count(len(r.Fixed), "problem"))
	}
	v.texts[file], v.texts[ui.ShortPath(file)] = r.Text, r.Text
	fixed, found := check(r.Text)
	v.found = append(v.found, found...)
	v.lintDefinition(fixed, found.Err() == nil)
	return true, nil
}

// offered returns the problems of a definition without the edits that --fix would not apply.
func (v *validation) offered(def *tool.Definition, found tool.Diagnostics) tool.Diagnostics {
	if !fixable(def.File) || !slices.ContainsFunc(found, func(d tool.Diagnostic) bool { return len(d.Fix) > 0 }) {
		return found
	}
	src, err := os.ReadFile(def.File)
	if err != nil {
		return found
	}
	return autofix.Offered(v.checkFile(def), def.File, src, found)
}

// checkFile returns a function that checks a text as if it were the file of the definition.
func (v *validation) checkFile(def *tool.Definition) autofix.Check {
	return func(text []byte) (*tool.Definition, tool.Diagnostics) {
		return toolfiles.Check(v.lib, def.File, def.Scope, text, false)
	}
}

// fixable reports whether diagnostics can be fixed by edits in a file of this type.
func fixable(file string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".md"}, tool.Extension(file))
}

// source returns the text of a file: with --dry-run the fixed one, otherwise the content of the
// file.
func (v *validation) source(file string) []byte {
	if text, ok := v.texts[file]; ok {
		return text
	}
	return ui.ReadSource(file)
}
