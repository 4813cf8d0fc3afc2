package place_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/place"
)

func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{file: "is not a folder", file + ".missing": "does not exist"} {
		err := place.NoFolder("working directory", path)
		var start place.StartError
		if !errors.As(err, &start) || start.Code != 127 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want one that says %q", path, err, want)
		}
	}
}
