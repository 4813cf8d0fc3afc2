package datastore

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
)

// contract tests what every Store promises.
func contract(t *testing.T, s Store) {
	ctx := t.Context()
	value := []byte("0123456789")
	digest := Digest(value)

	t.Run("missing", func(t *testing.T) {
		if _, err := s.Size(ctx, digest); !errors.Is(err, ErrMissing) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("size: %v", err)
		}
		for _, n := range []int64{-1, 0, 3} {
			if _, err := s.Get(ctx, digest, 0, n); !errors.Is(err, ErrMissing) {
				t.Errorf("get %d: %v", n, err)
			}
		}
	})
	t.Run("content is checked", func(t *testing.T) {
		for name, r := range map[string]io.Reader{"other": strings.NewReader("0123456780"), "short": strings.NewReader("012345678"), "long": strings.NewReader("01234567890"),
			"stream": io.MultiReader(strings.NewReader("x"))} {
			if err := s.Put(ctx, digest, r, 10); !errors.Is(err, errDamaged) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := s.Size(ctx, digest); !errors.Is(err, ErrMissing) {
			t.Errorf("a wrong value was kept: %v", err)
		}
	})
	t.Run("digests", func(t *testing.T) {
		for _, d := range []string{"", "sha256:", "sha256:..", "md5:" + digest[7:], strings.ToUpper(digest), "sha256:" + strings.Repeat("/", 64), digest + "00"} {
			if err := s.Put(ctx, d, bytes.NewReader(value), 10); err == nil {
				t.Errorf("%q is a digest", d)
			}
		}
	})
	t.Run("ranges", func(t *testing.T) {
		for range 2 { // twice: the second is there already
			if err := s.Put(ctx, digest, io.MultiReader(bytes.NewReader(value)), 10); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := s.Size(ctx, digest); n != 10 || err != nil {
			t.Errorf("size %d, %v", n, err)
		}
		for _, c := range []struct {
			offset, n int64
			want      string
		}{{0, -1, "0123456789"}, {3, -1, "3456789"}, {0, 4, "0123"}, {4, 2, "45"}, {8, 10, "89"}, {10, -1, ""}, {10, 5, ""}, {12, 1, ""}, {0, 0, ""}, {0, 1, "0"}} {
			if got := get(t, s, digest, c.offset, c.n); got != c.want {
				t.Errorf("%d bytes from %d: %q, want %q", c.n, c.offset, got, c.want)
			}
		}
	})
	t.Run("empty", func(t *testing.T) {
		if err := s.Put(ctx, Digest(nil), strings.NewReader(""), 0); err != nil {
			t.Fatal(err)
		}
		if got := get(t, s, Digest(nil), 0, -1); got != "" {
			t.Errorf("%q", got)
		}
	})
	t.Run("many writers", func(t *testing.T) {
		value := []byte(rand.Text())
		var writers sync.WaitGroup
		for range 20 {
			writers.Go(func() {
				if err := s.Put(ctx, Digest(value), bytes.NewReader(value), int64(len(value))); err != nil {
					t.Error(err)
				}
			})
		}
		writers.Wait()
		if got := get(t, s, Digest(value), 0, -1); got != string(value) {
			t.Errorf("%q", got)
		}
	})
	t.Run("large", func(t *testing.T) {
		value := make([]byte, 33<<20) // in several parts
		rand.Read(value)
		if err := s.Put(ctx, Digest(value), io.MultiReader(bytes.NewReader(value)), int64(len(value))); err != nil {
			t.Fatal(err)
		}
		if got := get(t, s, Digest(value), 0, -1); got != string(value) {
			t.Error("the value has changed")
		}
		if got := get(t, s, Digest(value), 20<<20, 100); got != string(slices.Clip(value[20<<20:20<<20+100])) {
			t.Error("the part is another one")
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		value := []byte(rand.Text())
		if err := s.Put(ended, Digest(value), bytes.NewReader(value), int64(len(value))); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

func get(t *testing.T, s Store, digest string, offset, n int64) string {
	t.Helper()
	r, err := s.Get(t.Context(), digest, offset, n)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
