package steps

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// privatePrefix is how the name of a run's private folder begins; digits follow.
// By it a later owner of the run finds what one that was killed has left.
func privatePrefix(run string) string { return "flowrun-" + stem(run) + "-private" }

func makePrivate(run string) (string, error) {
	dir, err := os.MkdirTemp("", privatePrefix(run)+"*")
	if err != nil {
		return "", fmt.Errorf("cannot make a temporary folder: %w; set TMPDIR to one you can write to", err)
	}
	return dir, nil
}

// SweepPrivate removes the private folders that earlier Sessions of the run left
// in the temporary directory because their process was killed: scripts, inputs,
// large values. It is for the run's next owner, when what they left running has
// ended and before it opens a Session of its own. Only folders of this user are
// touched, and no symbolic link is followed.
func SweepPrivate(run string) error {
	temp := os.TempDir()
	entries, err := os.ReadDir(temp)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot look for what the run left in the temporary directory: %w", err)
	}
	var failed error
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), privatePrefix(run))
		if _, err := strconv.ParseUint(number, 10, 64); !ok || err != nil {
			continue
		}
		if info, err := e.Info(); err == nil && info.IsDir() && ours(info) { // Info is the link's own
			failed = errors.Join(failed, os.RemoveAll(filepath.Join(temp, e.Name())))
		}
	}
	return failed
}
