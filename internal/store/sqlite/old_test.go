package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/dag"
)

// A history of an earlier version can be read, and a run in it continued.
func TestOldHistory(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join("testdata", "version7.sql"))
	must(t, err)
	foreign(t, filepath.Join(dir, dbName), string(text))
	s := openTest(t, dir)
	if !s.Upgraded() {
		t.Error("it is not known to be upgraded")
	}
	const id = "1m83y4r0sp322"
	r, err := s.Record(ctx, id)
	if err != nil || r.Tool != "greet" || len(r.Sources) != 1 || len(r.Sources[0].Text) == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	l, err := s.Claim(ctx, id, 6)
	must(t, err)
	must(t, l.Append(ctx, event(id, 7)))
	must(t, l.Append(ctx, event(id, 8)))
	list, err := s.Events(ctx, id, 1)
	if err != nil || len(list) != 7 {
		t.Fatal(list, err)
	}
	for i, e := range list {
		if e.Seq != uint64(i+2) || e.Run != id {
			t.Errorf("%+v", e)
		}
	}
	if r := list[1].Result; r == nil || r.Status != dag.Succeeded || r.Stdout == nil || r.Stdout.Inline != "hello\n" {
		t.Errorf("%+v", r)
	}
}

// A long definition is stored compressed.
func TestPack(t *testing.T) {
	for _, n := range []int{0, minPacked - 1, minPacked, 1 << 20} {
		text := make([]byte, n)
		stored, packed := pack(text)
		if packed {
			if len(stored) > n/10 {
				t.Errorf("%d bytes are stored as %d", n, len(stored))
			}
			stored = unpack(stored)
		}
		if stored == nil || string(stored) != string(text) || packed != (n >= minPacked) {
			t.Errorf("%d bytes: packed %v, differs", n, packed)
		}
	}
	if got := unpack([]byte("damaged")); string(got) == "damaged" {
		t.Error("damaged text was read")
	}
}
