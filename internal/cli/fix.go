package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/mend"
	"github.com/flowrun/flowrun/tool"
)

// mend mends the file of a target. It answers true where the target's problems have
// been collected, as those of a text that was not written.
func (v *validation) mend(t target) (bool, error) {
	def, _, err := v.lib.Lookup(t.name, nil)
	if err != nil || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(def.File)) {
		return false, nil // compiling it says why
	}
	file := def.File
	src, err := os.ReadFile(file)
	if err != nil {
		return false, nil
	}
	r := mend.Text(v.lib, file, src)
	if len(r.Fixed) == 0 {
		return false, nil
	}
	name := relative(tool.Diagnostics{{Pos: tool.Pos{File: file}}})[0].Pos.File
	if !v.flags.dryRun {
		if err := replaceFile(file, src, r.Text); err != nil {
			return false, err
		}
		v.say("%s: mended %s", name, counted(len(r.Fixed), "problem"))
		v.lib = v.library() // it has read the file as it was
		return false, nil
	}
	if v.flags.output == "text" {
		if err := console.Diff(v.Stdout, name, string(src), string(r.Text)); err != nil {
			return false, err
		}
	} else {
		v.say("%s: %s could be mended", name, counted(len(r.Fixed), "problem"))
	}
	v.texts[file], v.texts[name] = r.Text, r.Text
	left, found := mend.Check(v.lib, file, r.Text)
	v.found = append(v.found, found...)
	v.judge(left, found.Err() == nil)
	return true, nil
}

// source is the text that a validation speaks of.
func (v *validation) source(file string) []byte {
	if text, ok := v.texts[file]; ok {
		return text
	}
	return readSource(file)
}

// errChanged is a file that somebody else wrote in the meantime.
var errChanged = errors.New("it was changed meanwhile and is left as it is; run the command again")

// replaceFile puts text in the place of a file that held old, all at once: whoever
// reads it, even after a crash, finds the one or the other. A link stays, and what it
// leads to is replaced. The file keeps its mode.
func replaceFile(file string, old, text []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot write %q: %w", file, err)
		}
	}()
	path, err := filepath.EvalSymlinks(file)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // after the rename there is none
	if err := errors.Join(fill(temp, text, info.Mode()), temp.Close()); err != nil {
		return err
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, old) {
		return errors.Join(errChanged, err)
	}
	return os.Rename(temp.Name(), path)
}

func fill(f *os.File, text []byte, mode fs.FileMode) error {
	if _, err := f.Write(text); err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode.Perm()), f.Sync())
}
