package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openStore(t testing.TB, dir string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), dir)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// begin starts a run, of which a step with a log has ended.
func begin(s history.Store, state, id string, log string) (history.Ledger, error) {
	ctx := context.Background()
	l, err := s.Begin(ctx, &history.Record{ID: id, Tool: "t", Created: time.Now()})
	if err != nil {
		return nil, err
	}
	out := &dag.Output{Inline: "short", Size: 5}
	if log != "" {
		file := filepath.Join(rundir.LogFolder(state, id), "a.out")
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(log), 0o600)); err != nil {
			return nil, err
		}
		out = &dag.Output{Inline: log[:1], Size: int64(len(log)), File: file}
	}
	return l, l.Append(ctx, []dag.Event{{Kind: dag.RunStarted, Seq: 1, Run: id, Time: time.Now()},
		{Kind: dag.StepFinished, Seq: 2, Run: id, Node: "a", Time: time.Now(), Result: &dag.Result{Status: dag.Succeeded, Attempts: 1, Stdout: out}}})
}

func finish(l history.Ledger, id string) error {
	err := l.Append(context.Background(), []dag.Event{{Kind: dag.RunFinished, Seq: 3, Run: id, Time: time.Now(), Result: &dag.Result{Status: dag.Succeeded, Ended: time.Now()}}})
	return errors.Join(err, l.Close())
}

// TestBackupWhileRuns: a backup that is made while runs are recorded restores to a history in which each run has all that the
// history names, in a file and in a folder.
func TestBackupWhileRuns(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	s := openStore(t, state)
	many := sizetest.Of(300, 3000, 100_000)
	var wg sync.WaitGroup
	var stop atomic.Bool
	var made atomic.Int64
	for worker := range 4 {
		wg.Go(func() {
			for i := worker; i < many || !stop.Load(); i += 4 {
				id, log := fmt.Sprintf("run%07d", i), ""
				if i%100 == 0 {
					log = strings.Repeat(id, 1000)
				}
				l, err := begin(s, state, id, log)
				if err == nil {
					err = finish(l, id)
				}
				if err != nil {
					t.Error(err)
					return
				}
				made.Add(1)
				if i >= many {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	live, err := begin(s, state, "live", strings.Repeat("l", 9000))
	must(t, err)
	for made.Load() < int64(many)/2 {
		time.Sleep(time.Millisecond)
	}
	for i, target := range []string{filepath.Join(t.TempDir(), "b.tar.gz"), t.TempDir()} {
		if i == 1 {
			for made.Load() < int64(many) {
				time.Sleep(time.Millisecond)
			}
		}
		runs, err := Write(t.Context(), s.File(), state, target)
		must(t, err)
		if runs < many/2 {
			t.Errorf("%d runs are in the backup, want at least %d", runs, many/2)
		}
		to := filepath.Join(t.TempDir(), "elsewhere")
		r, err := Restore(t.Context(), target, to)
		must(t, err)
		if r.Runs != runs || r.Lost > 0 || r.Files < runs/200 {
			t.Errorf("%d runs in the backup; restored %+v", runs, r)
		}
		restored := openStore(t, to)
		info, err := restored.Info(t.Context(), "live")
		if err != nil || info.Status != dag.Interrupted {
			t.Errorf("%+v, %v", info, err)
		}
		events, err := restored.Events(t.Context(), "live", 0)
		must(t, err)
		file := events[1].Result.Stdout.File
		if text, err := os.ReadFile(file); err != nil || len(text) != 9000 || !strings.HasPrefix(file, to) {
			t.Errorf("%s: %d bytes, %v", file, len(text), err)
		}
		if l, err := restored.Claim(t.Context(), "live", 2); err != nil {
			t.Error("it cannot be resumed:", err)
		} else {
			must(t, l.Close())
		}
		stranger, _ := filepath.Glob(filepath.Join(to, "*"))
		for _, path := range stranger {
			if name := filepath.Base(path); !strings.HasPrefix(name, "history.") && name != "runs" && name != "artifacts" {
				t.Errorf("restored %s", name)
			}
		}
	}
	stop.Store(true)
	wg.Wait()
	if info, err := s.Info(t.Context(), "live"); err != nil || info.Status != dag.Running {
		t.Errorf("the backup changed a run: %+v, %v", info, err)
	}
	must(t, finish(live, "live"))
}

// TestArtifacts: contents with several names are stored once, before and after; folders that belong to this machine stay behind.
func TestArtifacts(t *testing.T) {
	t.Parallel()
	state, target := t.TempDir(), filepath.Join(t.TempDir(), "b.tar.gz")
	s := openStore(t, state)
	l, err := begin(s, state, "r", "log of r")
	must(t, err)
	content, named := filepath.Join(state, "artifacts", "ab", "cdef"), filepath.Join(rundir.ArtifactFolder(state, "r"), "a", "data", "f")
	must(t, errors.Join(os.MkdirAll(filepath.Dir(content), 0o700), os.MkdirAll(filepath.Dir(named), 0o700), os.WriteFile(content, []byte("content"), 0o600)))
	if err := os.Link(content, named); err != nil {
		t.Skip(err)
	}
	note := filepath.Join(state, "artifacts", "expiring", "99999999999-x")
	must(t, errors.Join(os.MkdirAll(filepath.Dir(note), 0o700), os.WriteFile(note, []byte(filepath.Dir(named)), 0o600)))
	must(t, errors.Join(os.MkdirAll(filepath.Join(state, "runs", "stranger"), 0o700), os.MkdirAll(filepath.Join(state, "trust"), 0o700),
		os.WriteFile(filepath.Join(state, "runs", "r", rundir.TempList), []byte(`"/tmp/flowrun-r"`), 0o600)))
	r := &dag.Result{Status: dag.Succeeded}
	r.SetArtifacts([]dag.Artifact{{Name: "data", Path: named, Digest: "sha256:x"}, {Name: "gone", Path: named + "-gone", Digest: "sha256:y"}, {Name: "loop", Paths: []string{named}}})
	must(t, l.Append(t.Context(), []dag.Event{{Kind: dag.StepFinished, Seq: 3, Run: "r", Node: "b", Time: time.Now(), Result: r}}))
	_, err = Write(t.Context(), s.File(), state, target)
	must(t, err)
	to := t.TempDir()
	got, err := Restore(t.Context(), target, to)
	gone := filepath.Join(to, "runs", "r", "artifacts", "a", "data", "f-gone")
	if err != nil || got.Runs != 1 || got.Files != 2 || got.Lost != 1 || got.Missing[0] != gone {
		t.Errorf("%+v, %v", got, err)
	}
	a, err := os.Stat(filepath.Join(to, "artifacts", "ab", "cdef"))
	must(t, err)
	b, err := os.Stat(filepath.Join(rundir.ArtifactFolder(to, "r"), "a", "data", "f"))
	if err != nil || !os.SameFile(a, b) {
		t.Error("the content is there twice", err)
	}
	if text, err := os.ReadFile(filepath.Join(to, "artifacts", "expiring", "99999999999-x")); string(text) != filepath.Join(rundir.ArtifactFolder(to, "r"), "a", "data") {
		t.Errorf("%q, %v", text, err)
	}
	for _, name := range []string{"runs/stranger", "runs/r/temp", "trust", manifestName} {
		if _, err := os.Lstat(filepath.Join(to, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was restored: %v", name, err)
		}
	}
	events, err := openStore(t, to).Events(t.Context(), "r", 2)
	if list := events[0].Result.Artifacts(); err != nil || list[0].Path != filepath.Join(rundir.ArtifactFolder(to, "r"), "a", "data", "f") || list[2].Paths[0] != list[0].Path {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestRefused: neither command writes where something is, and a backup that is not whole, or none, leaves nothing.
func TestRefused(t *testing.T) {
	t.Parallel()
	state, dir := t.TempDir(), t.TempDir()
	s := openStore(t, state)
	l, err := begin(s, state, "r", "log of r")
	must(t, errors.Join(err, finish(l, "r")))
	good, full := filepath.Join(dir, "good"), filepath.Join(dir, "full")
	must(t, errors.Join(os.Mkdir(full, 0o700), os.WriteFile(filepath.Join(full, "x"), nil, 0o600)))
	_, err = Write(t.Context(), openReadOnly(t, state).File(), state, good) // as the command does
	must(t, err)
	notEmpty := new(NotEmptyError)
	if _, err := Write(t.Context(), s.File(), state, good); !errors.Is(err, fs.ErrExist) {
		t.Error("a file was replaced:", err)
	}
	if _, err := Write(t.Context(), s.File(), state, full); !errors.As(err, &notEmpty) {
		t.Error("wrote into a folder with files:", err)
	}
	if _, err := Restore(t.Context(), good, full); !errors.As(err, &notEmpty) {
		t.Error("restored into a folder with files:", err)
	}
	if _, err := Write(t.Context(), openReadOnly(t, t.TempDir()).File(), dir, filepath.Join(dir, "none")); !errors.Is(err, sqlite.ErrNoHistory) {
		t.Error("no history:", err)
	}
	text, err := os.ReadFile(good)
	must(t, err)
	bad := map[string][]byte{"short": text[:len(text)/2], "no end": text[:len(text)-4], "changed": append(append([]byte{}, text[:len(text)/2]...), append([]byte("damage"), text[len(text)/2+6:]...)...), "text": []byte("no archive")}
	for name, entry := range map[string]tar.Header{
		"above": {Typeflag: tar.TypeReg, Name: "runs/../../x"}, "absolute": {Typeflag: tar.TypeReg, Name: "/x"}, "other": {Typeflag: tar.TypeReg, Name: "trust/x"},
		"symbolic": {Typeflag: tar.TypeSymlink, Name: "runs/x", Linkname: "/"}, "linked": {Typeflag: tar.TypeLink, Name: "runs/x", Linkname: "../x"}, "nothing": {Typeflag: tar.TypeDir, Name: "runs"},
	} {
		var b strings.Builder
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		must(t, errors.Join(packer{w, nil}.manifest(manifest{Format: format}), w.WriteHeader(&entry), w.Close(), z.Close()))
		bad[name] = []byte(b.String())
	}
	for name, text := range bad {
		file, to := filepath.Join(dir, "bad"), filepath.Join(dir, "to")
		must(t, os.WriteFile(file, text, 0o600))
		_, err := Restore(t.Context(), file, to)
		left, _ := filepath.Glob(to + "/*")
		if err == nil || len(left) > 0 {
			t.Errorf("%s: %v; left %q", name, err, left)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

func openReadOnly(t testing.TB, dir string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.OpenReadOnly(context.Background(), dir)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}
