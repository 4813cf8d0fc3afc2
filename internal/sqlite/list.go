package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

const infoColumns = "SELECT n, id, tool, retry_of, origin, status, exit_code, reason, message, notes, started, ended, owner, boot, lease FROM runs"

// Info implements history.Store.
func (s *Store) Info(ctx context.Context, id string) (history.RunInfo, error) {
	op := "read run " + id
	if s.reads == nil {
		return history.RunInfo{}, noRun(op)
	}
	info, err := scanInfo(s.reads.QueryRowContext(ctx, infoColumns+" WHERE id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		err = noRun(op)
	}
	if err == nil && info.PID != 0 {
		var waiting map[string]history.QueuePosition
		waiting, err = s.waiting(ctx)
		info = withQueuePosition(info, waiting)
	}
	return info, s.failed(op, err)
}

// waiting are the runs that stand in line.
func (s *Store) waiting(ctx context.Context) (map[string]history.QueuePosition, error) {
	queue, err := s.Queue(ctx)
	if err != nil {
		return nil, err
	}
	queued := map[string]history.QueuePosition{}
	for _, q := range queue.Waiting() {
		queued[q.Run] = q
	}
	return queued, nil
}

// withQueuePosition is the run, as Pending where it waits.
func withQueuePosition(i history.RunInfo, waiting map[string]history.QueuePosition) history.RunInfo {
	if q, waits := waiting[i.ID]; waits && i.PID != 0 {
		return i.WithQueue(q)
	}
	return i
}

// Runs implements history.Store.
func (s *Store) Runs(ctx context.Context, q history.Query) ([]history.RunInfo, error) {
	const op = "list the runs"
	if s.reads == nil {
		return nil, nil
	}
	// Before the list is read: each reader takes one connection at a time, or many of
	// them would wait for each other.
	waiting, err := s.waiting(ctx)
	if err != nil {
		return nil, err
	}
	text, args := runsQuery(q)
	rows, err := s.reads.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, s.failed(op, err)
	}
	defer rows.Close()
	var list []history.RunInfo
	for (q.Limit <= 0 || len(list) < q.Limit) && rows.Next() {
		info, err := scanInfo(rows)
		if err != nil {
			return nil, s.failed(op, err)
		}
		info = withQueuePosition(info, waiting)
		if len(list) > 0 && list[len(list)-1].ID == info.ID {
			continue // what waits comes for its state, and for that before
		}
		if (len(q.Status) == 0 || slices.Contains(q.Status, info.Status)) && (!q.Open || info.Ended.IsZero()) {
			list = append(list, info)
		}
	}
	return list, s.failed(op, rows.Err())
}

// runsQuery is the statement for a query. There is one SELECT for each status: each
// reads an index from its end, and SQLite merges them, so that the first rows come
// without reading the rest.
func runsQuery(q history.Query) (text string, args []any) {
	where, common := conditions(q)
	words := statusWords(q.Status)
	if q.Open {
		words = openWords
	}
	queued := q.Open || slices.Contains(q.Status, dag.Pending)
	if len(words) == 0 && !queued {
		return infoColumns + join(where) + " ORDER BY n DESC", common
	}
	var parts []string
	for _, word := range words {
		parts = append(parts, infoColumns+join(append(slices.Clip(where), "status = ?")))
		args = append(append(args, common...), word)
	}
	if queued { // a run that ended once and goes on is among them
		parts = append(parts, infoColumns+join(append(slices.Clip(where), "n IN (SELECT run FROM tickets WHERE held = 0)")))
		args = append(args, common...)
	}
	return strings.Join(parts, " UNION ALL ") + " ORDER BY n DESC", args
}

// shortPrefix is the length below which a prefix may stand for so many runs that
// reading the newest until there are enough is faster than finding and sorting all:
// ids begin with the time, five letters of it are 17 minutes.
const shortPrefix = 5

// conditions are those of a query but the status.
func conditions(q history.Query) (where []string, args []any) {
	switch {
	case q.Prefix == "":
	case len(q.Prefix) < shortPrefix:
		where = append(where, "+id >= ? AND +id < ?") // + keeps SQLite from the index
	default:
		where = append(where, "id >= ? AND id < ?")
	}
	if q.Prefix != "" {
		args = append(args, q.Prefix, q.Prefix+string(utf8.MaxRune))
	}
	if q.Tool != "" {
		where = append(where, "tool = ?")
		args = append(args, q.Tool)
	}
	if q.Origin != "" {
		where = append(where, "origin = ? AND origin <> ''") // as the index says
		args = append(args, q.Origin)
	}
	if !q.Since.IsZero() {
		where = append(where, "started >= ?")
		args = append(args, q.Since.UnixNano())
	}
	return where, args
}

func join(where []string) string {
	if len(where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(where, " AND ")
}

// openWords are those of the column for runs that have not ended.
var openWords = statusWords([]dag.Status{dag.Running, dag.Waiting})

// statusWords are the words of the column that may stand for the states. Whether a
// running one is interrupted is seen when it is read.
func statusWords(states []dag.Status) []string {
	var words []string
	for _, st := range states {
		if st == dag.Pending { // has no word of its own
			continue
		}
		words = append(words, st.String())
		if st == dag.Interrupted {
			words = append(words, dag.Running.String())
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

func scanInfo(row interface{ Scan(...any) error }) (i history.RunInfo, err error) {
	var n, started int64
	var status, notes string
	var ended sql.NullInt64
	var o owner
	err = row.Scan(&n, &i.ID, &i.Tool, &i.RetryOf, &i.Origin, &status, &i.ExitCode, &i.Reason, &i.Message, &notes, &started, &ended,
		&o.process, &o.boot, &o.lease)
	if err != nil {
		return i, err
	}
	i.Started = time.Unix(0, started)
	if notes != "" {
		i.Notes = strings.Split(notes, "\n")
	}
	if ended.Valid {
		i.Ended = time.Unix(0, ended.Int64)
	}
	i.Rebooted = o.rebooted()
	if i.Status, err = dag.ParseStatus(status); err != nil {
		return i, fmt.Errorf("cannot read run %s: %w", i.ID, err)
	}
	if id, ok := o.identity(); ok && o.lives() {
		i.PID = id.PID
	}
	if i.Status == dag.Running && i.PID == 0 {
		i.Status = dag.Interrupted
		i.Released = !o.process.Valid
	}
	return i, nil
}
