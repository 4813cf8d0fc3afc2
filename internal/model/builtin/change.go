package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/os/textdiff"
)

// change is the change of a file by one call.
type change struct {
	path  string
	was   version
	text  string // the new text
	count int    // number of replacements in the old text; 0 if all of the text is new
}

// rewriter computes the new text of a file from its current content, and the number of replacements.
type rewriter func(path string, was version) (string, int, error)

// confirm describes the change of a file without making it.
func (f *files) confirm(in *gostep.StepInput, path string, rewrite rewriter) (*gostep.Confirmation, error) {
	p, err := f.writable(in, path)
	if err != nil {
		return nil, err
	}
	c := change{path: p.path}
	dir, err := p.parent(false)
	switch {
	case err == nil:
		defer dir.Close()
		c.was, err = readVersion(dir, p.name(), p.path)
	case errors.Is(err, fs.ErrNotExist): // run will create the folder
		err = nil
	}
	if err == nil {
		c.text, c.count, err = rewrite(p.path, c.was)
	}
	if err != nil {
		return nil, err
	}
	return &gostep.Confirmation{Title: c.title(), Text: c.diffNote(), Diff: c.diff()}, nil
}

// change makes the change. It reads the file again, because the file may have changed since the person was asked, and
// allows only one call at a time to do so.
func (f *files) change(ctx context.Context, in *gostep.StepInput, path string, rewrite rewriter) (*gostep.Content, error) {
	p, err := f.writable(in, path)
	if err != nil {
		return nil, err
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dir, err := p.parent(false)
	if errors.Is(err, fs.ErrNotExist) {
		if _, _, err := rewrite(p.path, version{}); err != nil { // check for errors before folders are created
			return nil, err
		}
		dir, err = p.parent(true)
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	c := change{path: p.path}
	if c.was, err = readVersion(dir, p.name(), p.path); err != nil {
		return nil, err
	}
	if c.text, c.count, err = rewrite(p.path, c.was); err != nil {
		return nil, err
	}
	if c.same() {
		return textAnswer(c.done(), ""), nil
	}
	if err := replaceFile(dir, p.name(), p.path, []byte(c.text), c.was, func() error { return c.checkUnchanged(dir, p.name()) }); err != nil {
		return nil, err
	}
	content := textAnswer(c.done(), c.diffNote())
	if d := c.diff(); d != nil {
		content.Display = d
	}
	return content, nil
}

func (f *files) writable(in *gostep.StepInput, path string) (place, error) {
	p, err := f.roots(in).find(path)
	if err == nil {
		err = f.checkWritable(p)
	}
	return p, err
}

// checkUnchanged returns an error if a file in which text is to be replaced has changed in the meantime.
func (c change) checkUnchanged(dir *os.Root, name string) error {
	if c.count == 0 {
		return nil
	}
	now, err := readVersion(dir, name, c.path)
	if err == nil && string(now.text) != string(c.was.text) {
		err = fmt.Errorf("%s was changed by another program at the same time, so it was not edited; read it and edit again", quoted(c.path))
	}
	return err
}

func (c change) same() bool {
	return c.was.exists() && c.was.text != nil && string(c.was.text) == c.text
}

// title says what will happen.
func (c change) title() string {
	switch {
	case !c.was.exists():
		return "Create " + c.path
	case c.same():
		return "Change nothing in " + c.path
	case c.count > 0:
		return fmt.Sprintf("Replace %s in %s", plural.Of(c.count, "place"), c.path)
	}
	return "Overwrite " + c.path
}

// done says what has happened.
func (c change) done() string {
	length := size(int64(len(c.text)))
	switch {
	case !c.was.exists():
		return fmt.Sprintf("Created %s (%s).", c.path, length)
	case c.same():
		return fmt.Sprintf("%s already has this content; nothing was written.", c.path)
	case c.count > 0:
		return fmt.Sprintf("Replaced %s in %s.", plural.Of(c.count, "place"), c.path)
	}
	return fmt.Sprintf("Overwrote %s (%s).", c.path, length)
}

// diffNote describes a change that cannot be shown as a diff; "" if there is a diff.
func (c change) diffNote() string {
	switch k := kindOf(c.was.text[:min(len(c.was.text), headSize)]); {
	case !c.was.exists() || c.comparable():
		return ""
	case c.was.text == nil:
		return fmt.Sprintf("The file is %s now, too large to compare.", size(c.was.info.Size()))
	case k.text:
		return fmt.Sprintf("The file is %s text now and will be UTF-8 (%s).", k.encoding, size(int64(len(c.text))))
	default:
		return fmt.Sprintf("The file is binary now (%s, %s).", k.mime, size(c.was.info.Size()))
	}
}

// comparable reports whether the old content is text in the same encoding as the new one.
func (c change) comparable() bool {
	k := kindOf(c.was.text[:min(len(c.was.text), headSize)])
	return !c.was.exists() || c.was.text != nil && k.text && (k.encoding == plainText || k.encoding == utf8BOM)
}

// diff returns the change line by line; nil if it cannot be shown as a diff.
func (c change) diff() *gostep.FileDiff {
	if !c.comparable() {
		return nil
	}
	name, from := headerName(c.path), headerName(c.path)
	d := &gostep.FileDiff{FileName: c.path, New: c.text}
	if c.was.exists() {
		was := string(c.was.text)
		d.Original = &was
	} else {
		from = "/dev/null"
	}
	d.FileDiff = textdiff.Unified(from, string(c.was.text), name, c.text)
	return d
}

// headerName returns a file's name on one line, for the header of a diff.
func headerName(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return r < ' ' }) {
		return fmt.Sprintf("%q", path)
	}
	return path
}
