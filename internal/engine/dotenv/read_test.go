package dotenv_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/dotenv"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	if text, err := dotenv.Read(put("a", "A=1")); err != nil || text != "A=1" {
		t.Errorf("%q %v", text, err)
	}
	full := strings.Repeat("x", dotenv.MaxSize)
	if text, err := dotenv.Read(put("b", full)); err != nil || text != full {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, err := dotenv.Read(put("c", full+"x")); err == nil || !strings.Contains(err.Error(), "larger than 1048576 bytes") {
		t.Error(err)
	}
	if _, err := dotenv.Read(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
	if _, err := dotenv.Read(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
