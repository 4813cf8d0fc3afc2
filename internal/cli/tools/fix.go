package tools

import (
	"fmt"
	"io"
	"os"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/autofix"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/textdiff"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// fix fixes the file of a target. With --dry-run, it collects the problems that would remain and
// returns true; otherwise the caller validates the fixed file.
func (v *validation) fix(t target) (bool, error) {
	def, _, err := v.lib.Lookup(t.name, nil)
	if err != nil || !ui.Fixable(def.File) {
		return false, nil // compiling it reports the reason
	}
	file := def.File
	src, err := os.ReadFile(file)
	if err != nil {
		return false, nil
	}
	check := ui.CheckAs(v.lib, file)
	r := autofix.Text(check, file, src)
	if len(r.Fixed) == 0 {
		return false, nil
	}
	if !v.flags.dryRun {
		if err := atomicfile.Replace(file, src, r.Text); err != nil {
			return false, fmt.Errorf("cannot fix %q: %w", file, err)
		}
		v.env.Notef("%s: fixed %s", console.ShortPath(file), plural.Of(len(r.Fixed), "problem"))
		v.lib = v.env.Library() // the library has read the file before the change
		return false, nil
	}
	if v.flags.output == "text" {
		if _, err := io.WriteString(v.env.Stdout, textdiff.Unified(console.ShortPath(file), string(src), console.ShortPath(file), string(r.Text))); err != nil {
			return false, err
		}
	} else {
		v.env.Notef("%s: %s could be fixed", console.ShortPath(file), plural.Of(len(r.Fixed), "problem"))
	}
	v.texts[file], v.texts[console.ShortPath(file)] = r.Text, r.Text
	fixed, found := check(r.Text)
	v.found = append(v.found, autofix.Offered(check, file, r.Text, found)...)
	v.lintDefinition(fixed, found.Err() == nil)
	return true, nil
}

// source returns the text of a file: with --dry-run the fixed one, otherwise the content of the
// file.
func (v *validation) source(file string) []byte {
	if text, ok := v.texts[file]; ok {
		return text
	}
	return ui.ReadSource(file)
}
