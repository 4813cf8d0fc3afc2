package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// The columns of state that scanState reads. The newest row of a key is its current value.
const stateColumns = "SELECT n, tool, file, key, value, run, who, at FROM state "

// currentStateSQL reads the current values of a tool, or of all tools.
const currentStateSQL = stateColumns + `WHERE (?1 = '' OR (tool = ?1 AND file = ?2))
	AND n = (SELECT max(n) FROM state AS s WHERE s.tool = state.tool AND s.file = state.file AND s.key = state.key)
	ORDER BY tool, file, key`

func readState(ctx context.Context, q querier, text string, args ...any) ([]history.StateValue, error) {
	return rowsOf(ctx, q, scanState, text, args...)
}

func scanState(rows *sql.Rows, v *history.StateValue) error {
	var value string
	var at int64
	err := rows.Scan(&v.Version, &v.Tool, &v.File, &v.Key, &value, &v.Run, &v.By, &at)
	v.Value, v.At = json.RawMessage(value), time.Unix(0, at)
	return err
}

// toolState is the history.StateStore of a history.
type toolState struct{ db *db }

// State implements history.StateStore.
func (s toolState) State(ctx context.Context, id history.StateID) ([]history.StateValue, error) {
	return s.queryState(ctx, currentStateSQL, id.Tool, id.File)
}

// StateHistory implements history.StateStore.
func (s toolState) StateHistory(ctx context.Context, id history.StateID, key string) ([]history.StateValue, error) {
	return s.queryState(ctx, stateColumns+"WHERE tool = ? AND file = ? AND (key = ? OR ? = '') ORDER BY n DESC", id.Tool, id.File, key, key)
}

func (s toolState) queryState(ctx context.Context, text string, args ...any) ([]history.StateValue, error) {
	return list(ctx, s.db, "read the state of tools", scanState, text, args...)
}

// SetState implements history.StateStore. The changes are noted in the audit list.
func (s toolState) SetState(ctx context.Context, changes []dag.StateChange) error {
	return s.db.write(ctx, "set the state of a tool", func(ctx context.Context, c *conn) error {
		current, err := currentState(ctx, c, changes)
		if err != nil {
			return err
		}
		next, err := history.NextState(changes, current, current)
		if err != nil {
			return err
		}
		for _, v := range next {
			if err := addAudit(ctx, c, "set state", "", v.Key+" of "+v.Tool); err != nil {
				return err
			}
		}
		return addState(ctx, c, next, "", actor(ctx))
	})
}

// currentState returns the current values of the tools that changes are about.
func currentState(ctx context.Context, c *conn, changes []dag.StateChange) (list []history.StateValue, err error) {
	read := map[history.StateID]bool{}
	for _, ch := range changes {
		id := history.StateID{Tool: ch.Tool, File: ch.File}
		if read[id] {
			continue
		}
		read[id] = true
		values, err := readState(ctx, c, currentStateSQL, id.Tool, id.File)
		if err != nil {
			return nil, err
		}
		list = append(list, values...)
	}
	return list, nil
}

// addState adds new values, and drops the oldest ones of the same keys. It fills in the members that
// only the Store knows.
func addState(ctx context.Context, c *conn, values []history.StateValue, run, by string) error {
	for i := range values {
		v := &values[i]
		v.Run, v.By, v.At = run, by, time.Now()
		res, err := c.ExecContext(ctx, "INSERT INTO state (tool, file, key, value, run, who, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
			v.Tool, v.File, v.Key, string(v.Value), run, by, v.At.UnixNano())
		if err != nil {
			return err
		}
		if v.Version, err = res.LastInsertId(); err != nil {
			return err
		}
		_, err = c.ExecContext(ctx, `DELETE FROM state WHERE n IN (SELECT n FROM state
			WHERE tool = ? AND file = ? AND key = ? ORDER BY n DESC LIMIT -1 OFFSET ?)`, v.Tool, v.File, v.Key, history.MaxStateHistory)
		if err != nil {
			return err
		}
	}
	return nil
}

// ReadState implements history.Ledger.
func (l *ledger) ReadState(ctx context.Context, id history.StateID, from string) (list []history.StateValue, err error) {
	op := "read the state for run " + l.id
	if err := l.usable(); err != nil {
		return nil, fmt.Errorf("cannot %s: %w", op, err)
	}
	err = l.store.db.write(ctx, op, func(ctx context.Context, c *conn) error {
		seen, known, err := seenState(ctx, c, l.id, id)
		if err != nil {
			return err
		}
		if !known {
			taken := false
			if from != "" {
				seen, taken, err = seenState(ctx, c, from, id)
			}
			if !taken && err == nil {
				seen, err = readState(ctx, c, currentStateSQL, id.Tool, id.File)
			}
			if err != nil {
				return err
			}
			if err := l.keepSeen(ctx, c, id, seen); err != nil {
				return err
			}
		}
		for _, v := range seen {
			if v.Run != l.id {
				list = slices.DeleteFunc(list, func(old history.StateValue) bool { return old.Key == v.Key })
				list = append(list, v)
			}
		}
		return nil
	})
	if errors.Is(err, history.ErrFenced) {
		l.fence()
	}
	return list, err
}

// seenState returns what a run has read of a tool's state, followed by what it has set itself.
func seenState(ctx context.Context, c *conn, run string, id history.StateID) (list []history.StateValue, known bool, err error) {
	var text string
	err = c.QueryRowContext(ctx, "SELECT seen FROM runs JOIN state_seen ON run = n WHERE id = ? AND state_seen.tool = ? AND file = ?", run, id.Tool, id.File).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &list)
	}
	return list, true, err
}

// keepSeen writes nothing if the run has another owner.
func (l *ledger) keepSeen(ctx context.Context, c *conn, id history.StateID, list []history.StateValue) error {
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	n, err := c.change(ctx, `INSERT INTO state_seen (run, tool, file, seen) SELECT ?1, ?2, ?3, ?4
		WHERE EXISTS (SELECT 1 FROM runs WHERE n = ?1 AND epoch = ?5) ON CONFLICT DO UPDATE SET seen = excluded.seen`,
		l.run, id.Tool, id.File, string(text), l.epoch)
	if err != nil || n == 1 {
		return err
	}
	return history.ErrFenced
}

// commitState keeps the values that a turn sets, in the transaction that writes the turn.
func (l *ledger) commitState(ctx context.Context, c *conn, changes []dag.StateChange) error {
	if len(changes) == 0 {
		return nil
	}
	current, err := currentState(ctx, c, changes)
	if err != nil {
		return err
	}
	seen := map[history.StateID][]history.StateValue{}
	var all []history.StateValue
	for _, ch := range changes {
		id := history.StateID{Tool: ch.Tool, File: ch.File}
		if _, read := seen[id]; read {
			continue
		}
		if seen[id], _, err = seenState(ctx, c, l.id, id); err != nil {
			return err
		}
		all = append(all, seen[id]...)
	}
	next, err := history.NextState(changes, current, all)
	if err != nil {
		return err
	}
	if err := addState(ctx, c, next, l.id, ""); err != nil {
		return err
	}
	for _, v := range next {
		seen[v.StateID] = append(seen[v.StateID], v)
		if err := l.keepSeen(ctx, c, v.StateID, seen[v.StateID]); err != nil {
			return err
		}
	}
	return nil
}
