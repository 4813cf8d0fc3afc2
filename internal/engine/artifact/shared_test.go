//go:build unix

package artifact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
)

// memory is a Depot.
type memory map[string][]byte

func (m memory) KeepFile(_ context.Context, file string) (string, error) {
	text, err := os.ReadFile(file)
	sum := sha256.Sum256(text)
	m[digestText(sum[:])] = text
	return digestText(sum[:]), err
}

func (m memory) Open(_ context.Context, digest string) (io.ReadCloser, error) {
	text, ok := m[digest]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

// TestDeposit: an artifact is the same on another machine, also in place of that of an earlier attempt.
func TestDeposit(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"dist/app.js": "app", "dist/latest.js": "->app.js", "dist/empty/": "", "dist/sub/\xff": "x", "report.html": "r"})
	if err := os.Chmod(filepath.Join(dir, "dist/app.js"), 0o755); err != nil {
		t.Fatal(err)
	}
	depot, here, there := memory{}, newRun(t.TempDir(), Limits{}), newRun(t.TempDir(), Limits{})
	folder, err := there.Folder()
	if err != nil {
		t.Fatal(err)
	}
	move := func(a dag.Artifact) dag.Artifact {
		t.Helper()
		digest, err := Deposit(t.Context(), depot, a)
		if err != nil {
			t.Fatal(err)
		}
		moved, err := Withdraw(t.Context(), depot, digest, folder)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(moved); err != nil || moved.Digest != a.Digest || moved.Size != a.Size || !strings.HasPrefix(moved.Path, folder) {
			t.Errorf("%v: %+v became %+v", err, a, moved)
		}
		return moved
	}
	for range 2 { // the second time, all is there
		kept, err := keep(t, here, dir, "dist", "report.html")
		if err != nil {
			t.Fatal(err)
		}
		tree, report := move(kept[0]), move(kept[1])
		if got := files(t, tree); got != "app.js empty/ latest.js->app.js sub/ sub/\xff" {
			t.Errorf("it has %q", got)
		}
		if text, err := os.ReadFile(report.Path); err != nil || string(text) != "r" {
			t.Errorf("%v: %q", err, text)
		}
		if info, err := os.Stat(filepath.Join(tree.Path, "app.js")); err != nil || info.Mode().Perm()&0o111 == 0 {
			t.Errorf("%v: app.js is not executable", err)
		}
	}
	write(t, dir, map[string]string{"dist/new.js": "new"})
	kept, err := keep(t, here, dir, "dist")
	if err != nil {
		t.Fatal(err)
	}
	if got := files(t, move(kept[0])); got != "app.js empty/ latest.js->app.js new.js sub/ sub/\xff" {
		t.Errorf("the later attempt has %q", got)
	}
}

// TestWithdrawDamaged: what is not the manifest of an artifact, or names files outside of it, is not written.
func TestWithdrawDamaged(t *testing.T) {
	for _, text := range []string{"no JSON", `{"step":"a","name":"../x","files":[]}`, `{"step":"a","name":"x","single":true,"files":[]}`,
		`{"step":"a","name":"x","files":[{"path":"../../out","target":"f"}]}`, `{"step":"a","name":"x","files":[{"path":"gone","digest":"sha256:00"}]}`} {
		depot, dir := memory{digestOf([]byte(text)): []byte(text)}, t.TempDir()
		if a, err := Withdraw(t.Context(), depot, digestOf([]byte(text)), filepath.Join(dir, "run")); err == nil {
			t.Errorf("%s became %+v", text, a)
		}
		if _, err := os.Lstat(filepath.Join(dir, "run", "a", "x.json")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s left a manifest", text)
		}
	}
}
