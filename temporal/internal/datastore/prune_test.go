package datastore

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func put(t testing.TB, s Store, value string) (digest string) {
	t.Helper()
	digest = Digest([]byte(value))
	if err := s.Put(t.Context(), digest, bytes.NewReader([]byte(value)), int64(len(value))); err != nil {
		t.Error(err)
	}
	return digest
}

// age makes a value of a folder older.
func age(t testing.TB, s Store, digest string, by time.Duration) {
	t.Helper()
	path, err := s.(*folder).path(digest)
	then := time.Now().Add(-by)
	if err := errors.Join(err, os.Chtimes(path, then, then)); err != nil {
		t.Fatal(err)
	}
}

func TestPrune(t *testing.T) {
	const day = 24 * time.Hour
	s, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	old, again, young := put(t, s, "old"), put(t, s, "again"), put(t, s, "young")
	age(t, s, old, 40*day)
	age(t, s, again, 40*day)
	age(t, s, young, 20*day)
	put(t, s, "again")
	for _, dryRun := range []bool{true, false} {
		if p, err := Prune(s, time.Now().Add(-30*day), dryRun); err != nil || p != (Pruned{1, 3}) {
			t.Errorf("%+v, %v", p, err)
		}
	}
	for digest, want := range map[string]error{old: ErrMissing, again: nil, young: nil} {
		if _, err := s.Size(t.Context(), digest); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", digest, err, want)
		}
	}
	if p, err := Prune(s, time.Now().Add(-30*day), false); err != nil || p != (Pruned{}) {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := Prune(&bucket{}, time.Now(), false); !errors.Is(err, ErrBucket) {
		t.Error(err)
	}
}

// TestPruneLeftovers: a value that a killed Prune has taken from its place is deleted by the next one.
func TestPruneLeftovers(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	digest := put(t, s, "old")
	age(t, s, digest, 1000*time.Hour)
	path, _ := s.(*folder).path(digest)
	if err := os.Rename(path, path+taken); err != nil {
		t.Fatal(err)
	}
	if p, err := Prune(s, time.Now().Add(-time.Hour), false); err != nil || p.Values != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "*")); len(left) != 0 {
		t.Error(left)
	}
}

// TestPruneWhileUsed: what was put again is there, whatever Prune does at the same time.
func TestPruneWhileUsed(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		digest := put(t, s, "value")
		age(t, s, digest, 1000*time.Hour)
		var both sync.WaitGroup
		both.Go(func() {
			if _, err := Prune(s, time.Now().Add(-time.Hour), false); err != nil {
				t.Error(err)
			}
		})
		both.Go(func() { put(t, s, "value") })
		both.Wait()
		r, err := s.Get(t.Context(), digest, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		r.Close()
		if err != nil || string(text) != "value" {
			t.Fatalf("%q, %v", text, err)
		}
	}
}
