package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var someDate = time.Unix(1_700_000_000, 0).UTC()

// program is a folder as a release has it, made in the order that files are given.
func programFolder(t *testing.T, mode os.FileMode, names ...string) string {
	folder := filepath.Join(t.TempDir(), "flowrun_1.2.3_linux_amd64")
	for _, name := range names {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), mode|0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Repeat("the content of "+name+"\n", 100)), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Now().Add(-time.Duration(len(name))*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestArchiveIsReproducible: order, owners, modes and times of the files do not count.
func TestArchiveIsReproducible(t *testing.T) {
	one := programFolder(t, 0o600, "flowrun", "LICENSE", "man/man1/flowrun.1")
	two := programFolder(t, 0o755, "man/man1/flowrun.1", "LICENSE", "flowrun")
	for _, kind := range []string{".tar.gz", ".zip"} {
		var made [2][]byte
		for i, folder := range []string{one, two} {
			file := filepath.Join(t.TempDir(), "x"+kind)
			if err := archive(file, folder, someDate); err != nil {
				t.Fatal(err)
			}
			made[i], _ = os.ReadFile(file)
		}
		if len(made[0]) == 0 || !bytes.Equal(made[0], made[1]) {
			t.Errorf("two %s of the same files differ", kind)
		}
	}
}

func TestArchiveHolds(t *testing.T) {
	folder := programFolder(t, 0o600, "flowrun.exe", "LICENSE", "man/man1/flowrun.1")
	want := []string{
		"flowrun_1.2.3_linux_amd64/ drwxr-xr-x 0", "flowrun_1.2.3_linux_amd64/LICENSE -rw-r--r-- 2300", "flowrun_1.2.3_linux_amd64/flowrun.exe -rwxr-xr-x 2700",
		"flowrun_1.2.3_linux_amd64/man/ drwxr-xr-x 0", "flowrun_1.2.3_linux_amd64/man/man1/ drwxr-xr-x 0", "flowrun_1.2.3_linux_amd64/man/man1/flowrun.1 -rw-r--r-- 3400",
	}
	for _, kind := range []string{".tar.gz", ".zip"} {
		file := filepath.Join(t.TempDir(), "x"+kind)
		if err := archive(file, folder, someDate); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range unpack(t, file) {
			got = append(got, fmt.Sprint(f.name, " ", f.mode, " ", len(f.content)))
			if !f.date.Equal(someDate) {
				t.Errorf("%s: %s is of %v", kind, f.name, f.date)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", kind, diff)
		}
	}
}

// TestArchiveWholeOrNotAtAll: what cannot be packed leaves nothing behind, and what was
// there before.
func TestArchiveWholeOrNotAtAll(t *testing.T) {
	folder := programFolder(t, 0o600, "flowrun")
	out := t.TempDir()
	for name, from := range map[string]string{"x.tar.gz": filepath.Join(folder, "missing"), "x.rar": folder} {
		file := filepath.Join(out, name)
		if err := os.WriteFile(file, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := archive(file, from, someDate); err == nil {
			t.Errorf("%s of %s: no error", name, from)
		}
		if b, _ := os.ReadFile(file); string(b) != "before" {
			t.Errorf("%s was %q afterwards", name, b)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(out, ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

type packed struct {
	name    string
	mode    os.FileMode
	date    time.Time
	content []byte
}

// unpack reads an archive of either kind.
func unpack(t *testing.T, file string) (all []packed) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(file, ".zip") {
		zr, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range zr.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, packed{f.Name, f.Mode(), f.Modified.UTC(), content})
		}
		return all
	}
	zr, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	tr := tar.NewReader(zr)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" {
			t.Errorf("%s is owned by %d %q, %d %q", h.Name, h.Uid, h.Uname, h.Gid, h.Gname)
		}
		content, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, packed{h.Name, h.FileInfo().Mode(), h.ModTime.UTC(), content})
	}
}
