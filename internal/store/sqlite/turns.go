package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/store/eventcode"
)

// maxSeq is the largest number of an event.
const maxSeq = 1<<32 - 1

// pageSize is how many bytes of events are read in one call; a variable for tests.
var pageSize = 4 << 20

// turn returns the key of the turn that ends with event seq.
func turn(run int64, seq uint64) int64 { return run<<32 | int64(seq) }

// decode appends the events of a turn that have a number above after.
func decode(list []dag.Event, run string, text []byte, after uint64) (_ []dag.Event, err error) {
	n := len(list)
	if eventcode.Is(text) {
		list, err = eventcode.Decode(list, run, text)
	} else {
		list, err = decodeLines(list, text)
	}
	if err != nil {
		return nil, err
	}
	for n < len(list) && list[n].Seq <= after {
		list = slices.Delete(list, n, n+1)
	}
	return list, nil
}

// decodeLines does this for JSON lines, the form of histories up to version 7.
func decodeLines(list []dag.Event, text []byte) ([]dag.Event, error) {
	for line := range bytes.Lines(text) {
		var e dag.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// Events implements history.Store.
func (s *Store) Events(ctx context.Context, id string, after uint64) ([]dag.Event, error) {
	op := "read the events of run " + id
	if s.db.reads == nil {
		return nil, noRun(op)
	}
	var run int64
	err := s.db.reads.QueryRowContext(ctx, "SELECT n FROM runs WHERE id = ?", id).Scan(&run)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, noRun(op)
	case err != nil:
		return nil, s.db.failed(op, err)
	case after >= maxSeq:
		return nil, nil
	}
	rows, err := s.db.reads.QueryContext(ctx, "SELECT events FROM turns WHERE n BETWEEN ? AND ? ORDER BY n",
		turn(run, after+1), turn(run, maxSeq))
	if err != nil {
		return nil, s.db.failed(op, err)
	}
	defer rows.Close()
	var list []dag.Event
	var text sql.RawBytes
	for size := 0; size < pageSize && rows.Next(); size += len(text) {
		if err := rows.Scan(&text); err != nil {
			return nil, s.db.failed(op, err)
		}
		if list, err = decode(list, id, text, after); err != nil {
			return nil, &Error{Corrupt, s.db.file, op, err}
		}
	}
	return list, s.db.failed(op, rows.Err())
}
