package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/store/eventcode"
)

const (
	columns     = "SELECT n, id, tool, retry_of, origin, status, exit_code, reason, message, notes, started, ended, epoch, owner, boot, lease, alive, labels, retry_at, artifacts, "
	infoColumns = columns + "NULL FROM runs"
	withRecord  = columns + "(SELECT record FROM records WHERE run = n) FROM runs"
)

// Info implements history.Store.
func (s *Store) Info(ctx context.Context, id string) (history.RunInfo, error) {
	op := "read run " + id
	if s.db.reads == nil {
		return history.RunInfo{}, noRun(op)
	}
	info, err := scanInfo(s.db.reads.QueryRowContext(ctx, infoColumns+" WHERE id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		err = noRun(op)
	}
	if err == nil && info.PID != 0 {
		var waiting map[string]history.QueuePosition
		waiting, err = s.waiting(ctx)
		info = withQueuePosition(info, waiting)
	}
	list := []history.RunInfo{info}
	if err == nil {
		err = s.addDetails(ctx, list)
	}
	return list[0], s.db.failed(op, err)
}

// addDetails adds what other tables know of runs that have not ended.
func (s *Store) addDetails(ctx context.Context, list []history.RunInfo) error {
	return cmp.Or(s.addAnswered(ctx, list), s.addLastEvents(ctx, list))
}

// addLastEvents moves the last sign of life of interrupted runs to their last event, if that is later.
func (s *Store) addLastEvents(ctx context.Context, list []history.RunInfo) error {
	lost := map[string]*history.RunInfo{}
	for i := range list {
		if list[i].Status == dag.Interrupted {
			lost[list[i].ID] = &list[i]
		}
	}
	if len(lost) == 0 {
		return nil
	}
	ids, err := json.Marshal(slices.Sorted(maps.Keys(lost)))
	if err != nil {
		return err
	}
	_, err = rowsOf(ctx, s.db.reads, func(rows *sql.Rows, id *string) error {
		var turn []byte
		if err := rows.Scan(id, &turn); err != nil || turn == nil {
			return err
		}
		events, err := eventcode.Decode(nil, *id, turn) // an error is that of those who read the events
		if i := lost[*id]; err == nil && len(events) > 0 && events[len(events)-1].Time.After(i.LastSign) {
			i.LastSign = events[len(events)-1].Time
		}
		return nil
	}, `SELECT id, (SELECT events FROM turns WHERE turns.n BETWEEN runs.n << 32 AND runs.n << 32 | ? ORDER BY turns.n DESC LIMIT 1)
		FROM runs WHERE id IN (SELECT value FROM json_each(?))`, int64(maxSeq), string(ids))
	return err
}

// addAnswered adds to the runs that wait the numbers of their answered questions.
func (s *Store) addAnswered(ctx context.Context, list []history.RunInfo) error {
	waiting := map[string]*history.RunInfo{}
	for i := range list {
		if list[i].Status == dag.Waiting {
			waiting[list[i].ID] = &list[i]
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	ids, err := json.Marshal(slices.Sorted(maps.Keys(waiting)))
	if err != nil {
		return err
	}
	_, err = rowsOf(ctx, s.db.reads, func(rows *sql.Rows, id *string) error {
		var wait uint64
		if err := rows.Scan(id, &wait); err != nil {
			return err
		}
		waiting[*id].Answered = append(waiting[*id].Answered, wait)
		return nil
	}, "SELECT id, wait FROM runs JOIN answers ON run = n WHERE id IN (SELECT value FROM json_each(?)) ORDER BY wait", string(ids))
	return err
}

// waiting returns the positions of the runs that wait in the queue, by id.
func (s *Store) waiting(ctx context.Context) (map[string]history.QueuePosition, error) {
	queue, err := s.Queue(ctx)
	if err != nil {
		return nil, err
	}
	queued := map[string]history.QueuePosition{}
	for _, q := range queue.Waiting() {
		if q.Step == "" {
			queued[q.Run] = q
		}
	}
	return queued, nil
}

// withQueuePosition returns the run, as Pending if it waits in the queue.
func withQueuePosition(i history.RunInfo, waiting map[string]history.QueuePosition) history.RunInfo {
	if q, waits := waiting[i.ID]; waits && i.PID != 0 {
		return i.WithQueue(q)
	}
	return i
}

// Runs implements history.Store.
func (s *Store) Runs(ctx context.Context, q history.Query) ([]history.RunInfo, error) {
	const op = "list the runs"
	if s.db.reads == nil {
		return nil, nil
	}
	// The queue is read before the list. Each call must use only one connection at a time,
	// or many callers could block each other.
	waiting, err := s.waiting(ctx)
	if err != nil {
		return nil, err
	}
	rare, err := s.rareLabel(ctx, q)
	if err != nil {
		return nil, s.db.failed(op, err)
	}
	text, args := runsQuery(q, rare)
	rows, err := s.db.reads.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, s.db.failed(op, err)
	}
	list, err := scanRuns(rows, q, waiting)
	if err == nil {
		err = s.addDetails(ctx, list)
	}
	return list, s.db.failed(op, err)
}

// Count returns how many runs a query selects, whatever its Limit. known is false if it would have to read each of them to
// find out their status.
func (s *Store) Count(ctx context.Context, q history.Query) (n int, known bool, err error) {
	if s.db.reads == nil || len(q.Status) > 0 || q.Open {
		return 0, s.db.reads == nil, nil
	}
	rare, err := s.rareLabel(ctx, q)
	if err != nil {
		return 0, false, s.db.failed("count the runs", err)
	}
	where, args := conditions(q, rare)
	err = s.db.reads.QueryRowContext(ctx, "SELECT count(*) FROM runs"+join(where), args...).Scan(&n)
	return n, err == nil, s.db.failed("count the runs", err)
}

// scanRuns reads the runs that a query selects, and closes rows.
func scanRuns(rows *sql.Rows, q history.Query, waiting map[string]history.QueuePosition) (list []history.RunInfo, err error) {
	defer rows.Close()
	for (q.Limit <= 0 || len(list) < q.Limit) && rows.Next() {
		info, err := scanInfo(rows)
		if err != nil {
			return nil, err
		}
		info = withQueuePosition(info, waiting)
		if len(list) > 0 && list[len(list)-1].ID == info.ID {
			continue // a waiting run is found twice: for the queue and for the status before
		}
		if (len(q.Status) == 0 || slices.Contains(q.Status, info.Status)) && (!q.Open || info.Ended.IsZero()) {
			list = append(list, info)
		}
	}
	return list, rows.Err()
}

// runsQuery returns the statement for a query. It has one SELECT for each status: each
// reads an index from its end and SQLite merges them, so that the first rows come without
// reading the rest.
func runsQuery(q history.Query, rare *history.Label) (text string, args []any) {
	where, common := conditions(q, rare)
	infoColumns := infoColumns
	if q.WithParams {
		infoColumns = withRecord
	}
	words := statusWords(q.Status)
	if q.Open {
		words = openWords
	}
	queued := q.Open || slices.Contains(q.Status, dag.Pending)
	if len(words) == 0 && !queued {
		if q.Prefix != "" && q.Limit > 0 && len(where) == 1 {
			// Ids begin with the time, so those with the last ids are the newest.
			where = []string{"n IN (SELECT n FROM runs WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ?)"}
			common = append(common, q.Limit)
		}
		return infoColumns + join(where) + " ORDER BY n DESC", common
	}
	var parts []string
	for _, word := range words {
		parts = append(parts, infoColumns+join(append(slices.Clip(where), "status = ?")))
		args = append(append(args, common...), word)
	}
	if queued { // these include a run that had ended and is being resumed
		parts = append(parts, infoColumns+join(append(slices.Clip(where), "n IN (SELECT run FROM tickets WHERE held = 0 AND step = '')")))
		args = append(args, common...)
	}
	return strings.Join(parts, " UNION ALL ") + " ORDER BY n DESC", args
}

// shortPrefix is the length below which a prefix, with other conditions, may match so many
// runs that it is faster to read the newest runs until there are enough than to find and sort
// all matches. Ids begin with the time; five letters of it are 17 minutes.
const shortPrefix = 5

// maxRare is up to how many runs have a label for which all of them are read. The runs with a label that more have are soon
// found among the newest.
const maxRare = 10_000

// rareLabel returns a label of a query that few runs have, nil if there is none.
func (s *Store) rareLabel(ctx context.Context, q history.Query) (*history.Label, error) {
	for _, l := range q.Labels {
		n := 0
		query, args := runsLabelled(l)
		err := s.db.reads.QueryRowContext(ctx, "SELECT count(*) FROM ("+query+" LIMIT ?)", append(args, maxRare+1)...).Scan(&n)
		if err != nil || n <= maxRare {
			return &l, err
		}
	}
	return nil, nil
}

// runsLabelled returns the statement for the numbers of the runs with a label.
func runsLabelled(l history.Label) (query string, args []any) {
	if l.Value == "" {
		return "SELECT run FROM run_labels WHERE name = ?", []any{l.Name}
	}
	return "SELECT run FROM run_labels WHERE name = ? AND value = ?", []any{l.Name, l.Value}
}

// conditions returns the conditions of a query without the status. rare is one of its labels that few runs have, nil if there is
// none.
func conditions(q history.Query, rare *history.Label) (where []string, args []any) {
	switch {
	case q.Prefix == "":
	case len(q.Prefix) < shortPrefix:
		where = append(where, "+id >= ? AND +id < ?") // + keeps SQLite from using the index
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
	// + keeps SQLite from using the index and sorting what it finds: the newest runs are read until there are enough.
	if q.Tools != nil {
		where = append(where, "+tool IN (SELECT value FROM json_each(?))")
		names, _ := json.Marshal(q.Tools) // of texts: cannot fail
		args = append(args, string(names))
	}
	if q.Folder != "" {
		where = append(where, "(SELECT instr(json_extract(record, '$.world.workspace') || ?, ?) FROM records WHERE run = n) = 1")
		const separator = string(filepath.Separator)
		args = append(args, separator, strings.TrimSuffix(q.Folder, separator)+separator)
	}
	if q.Kind != "" {
		where = append(where, "+origin >= ? AND +origin < ?")
		args = append(args, q.Kind+":", q.Kind+";") // ; follows :
	}
	if q.Direct {
		where = append(where, "origin = ''")
	}
	if q.Origin != "" {
		where = append(where, "origin = ? AND origin <> ''") // written as in the index, or SQLite would not use it
		args = append(args, q.Origin)
	}
	for _, l := range q.Labels {
		where = append(where, "labels <> '' AND EXISTS (SELECT 1 FROM json_each(labels) WHERE key = ? AND (? = '' OR value = ?))")
		args = append(args, l.Name, l.Value, l.Value)
	}
	if !q.Since.IsZero() {
		where = append(where, "started >= ?")
		args = append(args, q.Since.UnixNano())
	}
	if !q.Until.IsZero() {
		where = append(where, "started < ?")
		args = append(args, q.Until.UnixNano())
	}
	if !q.RetryDue.IsZero() {
		where = append(where, "retry_at > 0 AND retry_at <= ?") // written as in the index, or SQLite would not use it
		args = append(args, q.RetryDue.UnixNano())
	}
	if q.Before != "" {
		where = append(where, "n < (SELECT n FROM runs WHERE id = ?)")
		args = append(args, q.Before)
	}
	if rare != nil {
		query, a := runsLabelled(*rare)
		where, args = append(where, "n IN ("+query+")"), append(args, a...)
	}
	return where, args
}

func join(where []string) string {
	if len(where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(where, " AND ")
}

// openWords are the values of the status column for runs that have not ended.
var openWords = statusWords([]dag.Status{dag.Running, dag.Waiting})

// statusWords returns the values of the status column for the statuses. A running row may
// turn out as interrupted when it is read.
func statusWords(states []dag.Status) []string {
	var words []string
	for _, st := range states {
		if st == dag.Pending { // is not stored
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
	var n, started, alive, retryAt int64
	var status, notes, labels string
	var ended sql.NullInt64
	var o owner
	var record sql.NullString
	err = row.Scan(&n, &i.ID, &i.Tool, &i.RetryOf, &i.Origin, &status, &i.ExitCode, &i.Reason, &i.Message, &notes, &started, &ended,
		&i.Epoch, &o.process, &o.boot, &o.lease, &alive, &labels, &retryAt, &i.Artifacts, &record)
	if err != nil {
		return i, err
	}
	if record.Valid {
		if i.Params, err = history.RecordedParams([]byte(record.String)); err != nil {
			return i, fmt.Errorf("cannot read run %s: %w", i.ID, err)
		}
	}
	if labels != "" {
		if err := json.Unmarshal([]byte(labels), &i.Labels); err != nil {
			return i, fmt.Errorf("cannot read run %s: %w", i.ID, err)
		}
	}
	i.Started = time.Unix(0, started)
	if notes != "" {
		i.Notes = strings.Split(notes, "\n")
	}
	if ended.Valid {
		i.Ended = time.Unix(0, ended.Int64)
	}
	if retryAt > 0 {
		i.RetryAt = time.Unix(0, retryAt)
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
		if alive != 0 {
			i.LastSign = time.Unix(0, alive)
		}
	}
	return i, nil
}
