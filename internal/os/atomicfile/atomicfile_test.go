package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// only checks that a directory contains these files and no leftovers.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(names) {
		t.Errorf("the folder holds %v, want %v", got, names)
	}
}

// If many callers create the same file, one succeeds, and the file is complete from its first to
// its last byte.
func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tools", "a.yaml")
	const many = 20
	texts := make([][]byte, many)
	errs := make([]error, many)
	var all sync.WaitGroup
	for i := range many {
		texts[i] = fmt.Appendf(nil, "name: a\nx-who: %d\n", i)
		all.Go(func() { errs[i] = Create(path, texts[i]) })
	}
	all.Wait()
	won := -1
	for i, err := range errs {
		var exists *ExistsError
		switch {
		case err == nil && won < 0:
			won = i
		case err == nil:
			t.Errorf("both %d and %d won", won, i)
		case !errors.As(err, &exists) || exists.Path != path:
			t.Errorf("%d: %v", i, err)
		}
	}
	if won < 0 || read(t, path) != string(texts[won]) {
		t.Errorf("winner %d, file %q", won, read(t, path))
	}
	only(t, filepath.Dir(path), "a.yaml")
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	var changed *ChangedError
	if err := Replace(path, []byte("other"), []byte("new")); !errors.As(err, &changed) || read(t, path) != "old" {
		t.Errorf("a file that had changed: %v, %q", err, read(t, path))
	}
	if err := Replace(path, []byte("old"), []byte("new")); err != nil || read(t, path) != "new" {
		t.Errorf("%v, %q", err, read(t, path))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 && info.Mode().Perm() != 0o666 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := Replace(filepath.Join(dir, "none"), nil, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is gone: %v", err)
	}
	only(t, dir, "a.yaml")
}

// Whatever fails after the temporary file was created, the file is unchanged, nothing is left
// behind, and the error names the file that the caller wanted.
func TestFailedWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	if err := Create(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	err := File{Path: path, Mode: 0o644}.Write(func(f *os.File) error {
		if _, err := f.WriteString("new"); err != nil {
			return err
		}
		return &fs.PathError{Op: "write", Path: f.Name(), Err: full}
	})
	if err == nil || err.Error() != "write "+path+": no space left on device" {
		t.Errorf("error: %v", err)
	}
	if read(t, path) != "old" {
		t.Errorf("the file holds %q", read(t, path))
	}
	var temporary string
	err = File{Path: path, Mode: 0o644, Before: func() error {
		if read(t, temporary) != "new" {
			t.Error("the temporary file is not whole when it gets its name")
		}
		return full
	}}.Write(func(f *os.File) error {
		temporary = f.Name()
		_, err := f.WriteString("new")
		return err
	})
	if err != full || read(t, path) != "old" {
		t.Errorf("%v, the file holds %q", err, read(t, path))
	}
	if err := (File{Path: filepath.Join(dir, "none", "a.yaml")}).WriteText(nil); err == nil || !strings.HasPrefix(err.Error(), "write "+filepath.Join(dir, "none", "a.yaml")+": ") {
		t.Errorf("a folder that is missing: %v", err)
	}
	only(t, dir, "a.yaml")
}

// Inside an os.Root all ways to write a file work, and none can leave it.
func TestRoot(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.Mkdir("sub", 0o755); err != nil {
		t.Fatal(err)
	}
	file := File{Root: root, Path: filepath.Join("sub", "a"), Mode: 0o640, Exact: true, Exclusive: true}
	if err := file.WriteText([]byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := file.WriteText([]byte("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an exclusive file twice: %v", err)
	}
	file.Exclusive, file.Unsynced, file.Temporary = false, true, "mine"
	if err := file.Write(func(f *os.File) error {
		if _, err := os.Stat(filepath.Join(dir, "sub", "mine")); err != nil {
			t.Error(err)
		}
		_, err := f.WriteString("three")
		return err
	}); err != nil || read(t, filepath.Join(dir, "sub", "a")) != "three" {
		t.Errorf("%v, %q", err, read(t, filepath.Join(dir, "sub", "a")))
	}
	if err := (File{Root: root, Path: filepath.Join("..", "b"), Mode: 0o600}).WriteText(nil); err == nil {
		t.Error("a file was written outside of the root")
	}
	if err := (File{Root: root, Path: filepath.Join("sub", "link")}).Symlink("a"); err != nil {
		t.Skip("no links here:", err)
	}
	if err := (File{Root: root, Path: filepath.Join("sub", "link")}).Symlink("b"); err != nil {
		t.Error(err)
	}
	if to, err := os.Readlink(filepath.Join(dir, "sub", "link")); err != nil || to != "b" {
		t.Errorf("%v, a link to %s", err, to)
	}
	only(t, filepath.Join(dir, "sub"), "a", "link")
}

// Cached files are readable by this user only, and Prune removes the oldest ones.
func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	for i, name := range []string{"e", "d", "c", "b", "a"} {
		path := filepath.Join(dir, name)
		for _, text := range []string{"old", "new"} {
			if err := Cache(path, []byte(text)); err != nil || read(t, path) != text {
				t.Fatal(err, read(t, path))
			}
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && info.Mode().Perm() != 0o666 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		then := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
	Prune(dir, 5)
	only(t, dir, "a", "b", "c", "d", "e")
	Prune(dir, 2)
	only(t, dir, "a", "b")
	Prune(filepath.Join(dir, "none"), 0)
}

func TestSaveAndOutput(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "state", "a.rej")
	for range 2 {
		if err := Save(secret, []byte("typed")); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(secret); err != nil || info.Mode().Perm()&0o077 != 0 && info.Mode().Perm() != 0o666 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	out, link := filepath.Join(dir, "out"), filepath.Join(dir, "link")
	if err := os.WriteFile(out, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, link); err != nil {
		t.Skip("no links here:", err)
	}
	if err := Output(link, []byte("new"), 0o644); err != nil || read(t, out) != "new" {
		t.Errorf("%v, %q", err, read(t, out))
	}
	if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o600 && info.Mode().Perm() != 0o666 {
		t.Errorf("a file for its owner alone has now the mode %v, %v", info.Mode(), err)
	}
	if err := Output(os.DevNull, []byte("new"), 0o644); err != nil {
		t.Error(err)
	}
}

// If many callers replace the same content, one succeeds, and the file has its text.
func TestReplaceAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	if err := Create(path, []byte("start")); err != nil {
		t.Fatal(err)
	}
	const many = 16
	for round := range 30 {
		was := []byte(read(t, path))
		errs := make([]error, many)
		text := func(i int) string { return fmt.Sprintf("round %d, writer %d", round, i) }
		var all sync.WaitGroup
		for i := range many {
			all.Go(func() { errs[i] = Replace(path, was, []byte(text(i))) })
		}
		all.Wait()
		var won []string
		for i, err := range errs {
			var changed *ChangedError
			switch {
			case err == nil:
				won = append(won, text(i))
			case !errors.As(err, &changed):
				t.Fatal(err)
			}
		}
		if len(won) != 1 || read(t, path) != won[0] {
			t.Fatalf("%q report that they are saved, the file holds %q", won, read(t, path))
		}
	}
	only(t, dir, "a.yaml")
}

// A lock that a killed process left is used again. What is not a lock is neither followed nor waited for.
func TestLeftLock(t *testing.T) {
	dir := t.TempDir()
	path, lock := filepath.Join(dir, "a.yaml"), filepath.Join(dir, ".replace.lock")
	if err := Create(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, []byte("old"), []byte("new")); err != nil {
		t.Error(err)
	}
	only(t, dir, "a.yaml")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	inRoot := File{Root: root, Path: "a.yaml", Mode: 0o644, Before: func() error { return nil }}
	if err := inRoot.WriteText([]byte("new")); err != nil {
		t.Error(err)
	}
	only(t, dir, "a.yaml")
	if err := os.Symlink("elsewhere", lock); err != nil {
		t.Skip("no links here:", err)
	}
	if err := Replace(path, []byte("new"), []byte("newer")); err == nil || read(t, path) != "new" {
		t.Errorf("%v, %q", err, read(t, path))
	}
	if err := inRoot.WriteText([]byte("newer")); err == nil || read(t, path) != "new" {
		t.Errorf("in a root: %v, %q", err, read(t, path))
	}
	only(t, dir, ".replace.lock", "a.yaml")
}
