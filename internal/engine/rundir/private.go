package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// privatePrefix returns the start of the name of a run's private folder. The tag of the process
// that made it (procid.Domain.Tag), a dash and digits follow. A later owner of the run finds folders of a
// killed one by the run; any later process finds them by the tag.
func privatePrefix(run string) string { return "flowrun-" + FileName(run) + privateMiddle }

const privateMiddle = "-private"

// MakePrivate makes a private folder for a run whose processes are in the domain.
func MakePrivate(run string, d procid.Domain) (string, error) {
	dir, err := os.MkdirTemp("", privatePrefix(run)+d.Tag()+"-*")
	if err != nil {
		return "", fmt.Errorf("cannot create a temporary folder: %w; set TMPDIR to a folder you can write to", err)
	}
	return dir, nil
}

// privateTag returns the tag in the part of the name after the prefix.
func privateTag(rest string) (tag string, ok bool) {
	tag, number, ok := strings.Cut(rest, "-")
	_, err := strconv.ParseUint(number, 10, 64)
	return tag, ok && err == nil
}

// SweepPrivate removes the private folders that earlier owners of the run left in the temporary
// directory because their process was killed. They contain scripts, inputs and large values. The
// next owner of the run calls it after the processes of its predecessor have ended, and before it
// makes its own. It removes only folders of this user and follows no symbolic links.
func SweepPrivate(run string) error {
	return sweepPrivate(func(name string) bool {
		rest, ok := strings.CutPrefix(name, privatePrefix(run))
		_, tagged := privateTag(rest)
		return ok && tagged
	})
}

// SweepAbandoned removes the private folders of all killed processes of the domain.
// Their runs may never be resumed, and the values in the folders may be secret.
func SweepAbandoned(d procid.Domain) error {
	return sweepPrivate(func(name string) bool {
		at := strings.LastIndex(name, privateMiddle)
		if at < 0 || !strings.HasPrefix(name, "flowrun-") {
			return false
		}
		tag, ok := privateTag(name[at+len(privateMiddle):])
		return ok && d.Abandoned(tag)
	})
}

func sweepPrivate(matches func(name string) bool) error {
	temp := os.TempDir()
	dir, err := os.Open(temp)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot read the temporary folder: %w", err)
	}
	defer dir.Close()
	names, failed := dir.Readdirnames(-1)
	for _, name := range names {
		if !matches(name) {
			continue
		}
		path := filepath.Join(temp, name)
		if info, err := os.Lstat(path); err == nil && info.IsDir() && OwnedByUser(info) {
			failed = errors.Join(failed, os.RemoveAll(path))
		}
	}
	return failed
}
