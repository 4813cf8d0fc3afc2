package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
)

// No concurrent update is lost, and one that fails changes nothing.
func TestUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "count")
	add := func(was []byte) ([]byte, error) {
		n, _ := strconv.Atoi(string(was))
		return []byte(strconv.Itoa(n + 1)), nil
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := atomicfile.Update(path, add); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := atomicfile.Update(path, func([]byte) ([]byte, error) { return nil, errors.New("no") }); err == nil {
		t.Error("the change's error is lost")
	}
	text, err := os.ReadFile(path)
	info, _ := os.Stat(path)
	if err != nil || string(text) != "20" || info.Mode().Perm() != 0o600 {
		t.Errorf("%q %v %v", text, err, info.Mode())
	}
}
