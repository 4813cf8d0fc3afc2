package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestCheck: an intact history has no problems. One with a foreign page has, even if
// opening it succeeds.
func TestCheck(t *testing.T) {
	ctx := context.Background()
	dir := filled(t)
	check := func() (Health, error) {
		s, err := OpenReadOnly(ctx, dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		return s.File().Check(ctx)
	}
	h, err := check()
	if err != nil || len(h.Problems) > 0 || h.Version != len(migrations()) || h.Size < 4096 {
		t.Fatalf("%+v, %v", h, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, dbName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	junk := make([]byte, 4096)
	for i := range junk {
		junk[i] = 0xa5
	}
	if _, err := f.WriteAt(junk, h.Size-4096); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if h, err := check(); err == nil && len(h.Problems) == 0 {
		t.Errorf("a damaged page is not noticed: %+v", h)
	}
}

// TestCheckNothing: a missing history has no problems.
func TestCheckNothing(t *testing.T) {
	s, err := OpenReadOnly(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if h, err := s.File().Check(context.Background()); err != nil || h.Version != 0 || len(h.Problems) > 0 {
		t.Errorf("%+v, %v", h, err)
	}
}
