//go:build unix

package complete

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestCompleteFile checks that only names are offered that a shell can show.
func TestCompleteFile(t *testing.T) {
	dir := t.TempDir() + "/"
	for _, name := range []string{"a b.txt", "aü", "a\x1b[31mred", "a\nb", "a\tb", "a\u009bc", "a\u202eb", "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	words, _ := completeFile("F=", dir+"a")
	if want := []string{"F=" + dir + "a b.txt", "F=" + dir + "aü"}; !slices.Equal(words, want) {
		t.Errorf("%q, want %q", words, want)
	}
}
