//go:build unix

package ownership

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A file of the state directory is read only if this user or root has made it and its folder.
func TestReadFile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away; run the tests as root")
	}
	for _, c := range []struct {
		about        string
		folder, file int // owners
		foreign      bool
	}{
		{"own", 0, 0, false},
		{"file of another user", 0, 65534, true},
		{"folder of another user", 65534, 0, true},
	} {
		t.Run(c.about, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "trust")
			file := filepath.Join(folder, "a.json")
			must(t, os.Mkdir(folder, 0o700))
			must(t, os.WriteFile(file, []byte("text"), 0o600))
			must(t, os.Chown(folder, c.folder, -1))
			must(t, os.Chown(file, c.file, -1))
			text, err := ReadFile(file)
			if got := errors.As(err, new(*ForeignError)); got != c.foreign || got != (string(text) != "text") {
				t.Errorf("%q, %v", text, err)
			}
			if err := CheckFile(file); (err != nil) != (c.file != 0) {
				t.Error(err)
			}
		})
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "nothing")); !errors.Is(err, fs.ErrNotExist) || CheckFile(filepath.Join(t.TempDir(), "nothing")) != nil {
		t.Error(err)
	}
}
