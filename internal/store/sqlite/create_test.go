package sqlite

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/history"
)

var update = flag.Bool("update", false, "rewrite the empty history")

// A new history is the one that the migrations make.
func TestEmptyHistory(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, dbName), nil, 0o600)) // an empty file is filled by the migrations
	must(t, openTest(t, dir).Close())
	if *update {
		writeEmptyHistory(t, filepath.Join(dir, dbName))
	}
	if text, err := readEmptyHistory(); err != nil || int(binary.BigEndian.Uint32(text[versionAt:])) != len(migrations()) {
		t.Fatalf("empty.db.zlib has not every migration (%v); go test ./internal/store/sqlite -run EmptyHistory -update rewrites it", err)
	}
	want := dump(t, dir)
	fresh := t.TempDir()
	must(t, openTest(t, fresh).Close())
	if diff := cmp.Diff(want, dump(t, fresh)); diff != "" {
		t.Errorf("empty.db.zlib is not current; go test ./internal/store/sqlite -run EmptyHistory -update rewrites it\n%s", diff)
	}
}

func writeEmptyHistory(t *testing.T, file string) {
	foreign(t, file, "VACUUM")
	text, err := os.ReadFile(file)
	must(t, err)
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, zlib.BestCompression)
	must(t, err)
	_, err = w.Write(text)
	must(t, err)
	must(t, w.Close())
	must(t, os.WriteFile("empty.db.zlib", b.Bytes(), 0o644))
	emptyHistory = b.Bytes()
}

// dump returns the schema of a history and its settings.
func dump(t *testing.T, dir string) []string {
	s := openTest(t, dir)
	defer s.Close()
	var list []string
	for _, query := range []string{"SELECT sql FROM sqlite_schema ORDER BY name", "PRAGMA application_id", "PRAGMA user_version",
		"PRAGMA auto_vacuum", "PRAGMA page_size", "PRAGMA journal_mode", "SELECT n FROM schedule_changes"} {
		rows, err := s.db.reads.Query(query)
		must(t, err)
		for rows.Next() {
			var text *string
			must(t, rows.Scan(&text))
			if text != nil {
				list = append(list, *text)
			}
		}
		must(t, rows.Err())
	}
	return list
}

// A history becomes durable, with its name and its marker, by the first sync.
func TestMarked(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "state")
	marker := filepath.Join(dir, markerName)
	s := openTest(t, dir)
	if _, err := os.Stat(marker); err == nil {
		t.Error("the history was marked before it was on disk")
	}
	l, err := s.Begin(ctx, &history.Record{ID: "r1", Tool: "test"})
	must(t, err)
	must(t, l.Sync(ctx))
	if _, err := os.Stat(marker); err != nil {
		t.Error(err)
	}
	must(t, s.Quit())
}

// The name of a WAL file whose commits were on disk when a process left is not synced again.
func TestSyncsOfName(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	for i, want := range []int64{2, 1, 1} {
		s := openTest(t, dir)
		l := beginTest(t, s, string(rune('a'+i)))
		must(t, l.Sync(ctx))
		if got := s.db.wal.syncs.Load(); got != want {
			t.Errorf("open %d: %d syncs, want %d", i+1, got, want)
		}
		must(t, s.Quit())
	}
}
