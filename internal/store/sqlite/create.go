package sqlite

import (
	"bytes"
	"compress/zlib"
	"context"
	_ "embed"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
)

// emptyHistory is a history without runs, compressed with zlib. SQLite would need several transactions
// and a dozen syncs to make one.
//
//go:embed empty.db.zlib
var emptyHistory []byte

// versionAt is where a file of SQLite has its user_version, as 4 bytes.
const versionAt = 60

// create makes a history without runs. The file is complete before it gets its name, so a killed
// process leaves none or all of it. Only this user can read it. The name is not on disk yet.
func (d *db) create() error {
	text, err := readEmptyHistory()
	if err != nil {
		return err
	}
	if int(binary.BigEndian.Uint32(text[versionAt:])) != len(migrations()) {
		text = nil // the migrations of a test fill an empty file
	}
	unnamed := d.file + ".new"
	os.Remove(unnamed) // of a killed process; the caller holds the lock
	return atomicfile.File{Path: d.file, Mode: 0o600, Temporary: filepath.Base(unnamed), Unsynced: true}.Write(func(f *os.File) error {
		if _, err := f.Write(text); err != nil {
			return err
		}
		return f.Sync()
	})
}

// beginWAL makes the first commit of a new history, an empty one, without the two syncs that SQLite
// makes when it begins a WAL file: older commits may follow there, but not in a new file. The caller
// holds the lock, so no other process has used the file.
func (d *db) beginWAL(ctx context.Context) error {
	_, err := d.conn.Conn.ExecContext(ctx, "PRAGMA synchronous = OFF; UPDATE commits SET n = n + 1; PRAGMA synchronous = NORMAL")
	return err
}

func readEmptyHistory() ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(emptyHistory))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
