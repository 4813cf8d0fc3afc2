package datastore

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestFolder(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "new", "store"))
	if err != nil {
		t.Fatal(err)
	}
	contract(t, s)
	f := s.(*folder)
	var files []string
	err = filepath.WalkDir(f.root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		files = append(files, path)
		if runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil || len(files) != 4 {
		t.Errorf("the store has the files %q, %v; want 4", files, err)
	}
}

// TestFolderDamaged: a damaged value is not returned as if it were whole.
func TestFolderDamaged(t *testing.T) {
	s, _ := openFolder(t.TempDir())
	digest := Digest([]byte("value"))
	if err := s.Put(t.Context(), digest, strings.NewReader("value"), 5); err != nil {
		t.Fatal(err)
	}
	path, _ := s.path(digest)
	if err := os.WriteFile(path, []byte("VALUE"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := s.Get(t.Context(), digest, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadAll(r); !errors.Is(err, errDamaged) {
		t.Errorf("%v", err)
	}
}

// TestFolderRenews: a value that is put again is not deleted by age.
func TestFolderRenews(t *testing.T) {
	s, _ := openFolder(t.TempDir())
	digest := Digest([]byte("value"))
	path, _ := s.path(digest)
	for _, c := range []struct{ before, after time.Duration }{{0, 0}, {time.Hour, time.Hour}, {48 * time.Hour, 0}} {
		if err := s.Put(t.Context(), digest, strings.NewReader("value"), 5); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-c.before)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		if err := s.Put(t.Context(), digest, strings.NewReader("value"), 5); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if age := time.Since(info.ModTime()); err != nil || (age-c.after).Abs() > time.Minute {
			t.Errorf("after %v: %v old, %v; want %v", c.before, age, err, c.after)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	dir := t.TempDir()
	if _, err := Open(t.Context(), "file://"+filepath.ToSlash(dir)); err != nil && runtime.GOOS != "windows" {
		t.Error(err)
	}
	for location, want := range map[string]string{
		"":                        "write an absolute folder",
		"store":                   "write an absolute folder",
		"file://host/folder":      "write an absolute folder",
		"gs://bucket":             "write an absolute folder",
		"s3://bucket":             "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
		"s3://bucket?acl=public":  `unknown option "acl"`,
		"s3://me:secret@bucket/x": "set AWS_ACCESS_KEY_ID",
	} {
		if _, err := Open(t.Context(), location); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "me:secret") {
			t.Errorf("%q: %v; want %q", location, err, want)
		}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	for location, want := range map[string]string{
		"s3://bucket?endpoint=host:9000":      "the endpoint must be",
		"s3://bucket?endpoint=ftp://host":     "the endpoint must be",
		"s3://bucket?endpoint=https://h/path": "the endpoint must be",
		"s3://bucket?path-style=maybe":        "path-style must be true or false",
	} {
		if _, err := Open(t.Context(), location); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", location, err, want)
		}
	}
}
