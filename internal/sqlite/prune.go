package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// Policy says how much history to keep. A run goes when any limit that is set says
// so; the zero Policy keeps everything. A run with a living owner is never removed.
type Policy struct {
	OlderThan time.Duration // removes runs that ended (or, unfinished, were begun) longer ago
	Keep      int           // removes all but the newest so many
	MaxSize   int64         // removes the oldest until the file and the logs have at most so many bytes
	// LogSize is how many bytes a run's log folder has; nil counts none.
	LogSize func(id string) int64
	DryRun  bool // only says what would go
	Routine bool // by a standing order, which leaves no line in the audit list
}

// Due says whether Prune may find anything to remove, at the cost of a look at few rows.
// A MaxSize is always due.
func (s *Store) Due(ctx context.Context, p Policy) (bool, error) {
	if s.reads == nil {
		return false, nil
	}
	if p.MaxSize > 0 {
		return true, nil
	}
	var more, old bool
	const q = `SELECT EXISTS (SELECT 1 FROM runs ORDER BY n DESC LIMIT 1 OFFSET ?1),
		EXISTS (SELECT 1 FROM (SELECT coalesce(ended, started) AS at FROM runs ORDER BY n LIMIT 20) WHERE at < ?2)`
	err := s.reads.QueryRowContext(ctx, q, p.Keep, time.Now().Add(-p.OlderThan).UnixNano()).Scan(&more, &old)
	return p.Keep > 0 && more || p.OlderThan > 0 && old, s.failed("look at the history", err)
}

// Pruned is what Prune removed.
type Pruned struct {
	IDs   []string // of the runs, oldest first; their log folders are the caller's to remove
	Bytes int64    // about what that frees, the log folders included
}

// Variables for the sake of tests: how much one transaction removes, so that runs
// under way wait for some milliseconds at most.
var (
	runsAtOnce  = 200
	turnsAtOnce = 5000
	pagesAtOnce = 2000
)

// candidate is a run that Prune looks at.
type candidate struct {
	n     int64
	id    string
	at    time.Time // ended or begun
	lives bool
	size  int64 // bytes of its rows and logs
}

// Prune removes history by a policy and makes the file smaller. It works in short
// transactions beside runs under way. When it is interrupted, the next Prune goes on.
func (s *Store) Prune(ctx context.Context, p Policy) (Pruned, error) {
	const op = "prune the history"
	var done Pruned
	if s.reads == nil {
		return done, nil
	}
	runs, err := s.candidates(ctx)
	if err != nil {
		return done, s.failed(op, err)
	}
	var total int64
	if p.MaxSize > 0 {
		if total, err = s.size(ctx, runs, p); err != nil {
			return done, s.failed(op, err)
		}
	}
	chosen, err := choose(runs, p, time.Now(), total, func(r candidate) (int64, error) { return s.runSize(ctx, r, p) })
	if err != nil {
		return done, s.failed(op, err)
	}
	if p.DryRun {
		done.add(chosen)
		return done, nil
	}
	for part := range slices.Chunk(chosen, runsAtOnce) {
		gone, err := s.remove(ctx, op, part)
		if err != nil {
			return done, err
		}
		done.add(gone)
	}
	noted := len(done.IDs)
	if p.Routine {
		noted = 0
	}
	return done, s.shrink(ctx, op, noted, p)
}

func (p *Pruned) add(runs []candidate) {
	for _, r := range runs {
		p.IDs = append(p.IDs, r.id)
		p.Bytes += r.size
	}
}

// candidates are the runs, newest first.
func (s *Store) candidates(ctx context.Context) (runs []candidate, err error) {
	rows, err := s.reads.QueryContext(ctx, "SELECT n, id, coalesce(ended, started), owner, boot, lease FROM runs ORDER BY n DESC")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r candidate
		var at int64
		var o owner
		if err := rows.Scan(&r.n, &r.id, &at, &o.process, &o.boot, &o.lease); err != nil {
			return nil, err
		}
		r.at, r.lives = time.Unix(0, at), o.lives()
		runs = append(runs, r)
	}
	return runs, rows.Err()
}

// size is how many bytes the file needs for what it holds, with the logs.
func (s *Store) size(ctx context.Context, runs []candidate, p Policy) (int64, error) {
	var pages, free, size int64
	for q, to := range map[string]*int64{"page_count": &pages, "freelist_count": &free, "page_size": &size} {
		if err := s.reads.QueryRowContext(ctx, "PRAGMA "+q).Scan(to); err != nil {
			return 0, err
		}
	}
	total := (pages - free) * size
	for _, r := range runs {
		total += p.logSize(r)
	}
	return total, nil
}

// runSize is about how many bytes the run takes.
func (s *Store) runSize(ctx context.Context, r candidate, p Policy) (n int64, err error) {
	err = s.reads.QueryRowContext(ctx, `SELECT
		(SELECT coalesce(sum(length(record)), 0) FROM records WHERE run = ?1) +
		(SELECT coalesce(sum(length(events)), 0) FROM turns WHERE n BETWEEN ?2 AND ?3)`,
		r.n, turn(r.n, 0), turn(r.n, maxSeq)).Scan(&n)
	return n + p.logSize(r), err
}

func (p Policy) logSize(r candidate) int64 {
	if p.LogSize == nil {
		return 0
	}
	return p.LogSize(r.id)
}

// choose is which runs (given newest first) go, oldest first, with their sizes.
func choose(runs []candidate, p Policy, now time.Time, total int64, weigh func(candidate) (int64, error)) (list []candidate, err error) {
	for i, r := range slices.Backward(runs) {
		old := p.OlderThan > 0 && now.Sub(r.at) > p.OlderThan
		beyond := p.Keep > 0 && i >= p.Keep
		large := p.MaxSize > 0 && total > p.MaxSize
		if r.lives || !old && !beyond && !large {
			continue
		}
		if r.size, err = weigh(r); err != nil {
			return nil, err
		}
		list = append(list, r)
		total -= r.size
	}
	return list, nil
}

// remove takes runs out of the history, except those that have found an owner
// meanwhile, and says which. Their turns are left to sweep.
func (s *Store) remove(ctx context.Context, op string, runs []candidate) (gone []candidate, err error) {
	err = s.write(ctx, op, func(ctx context.Context, c *sql.Conn) error {
		gone = gone[:0]
		for _, r := range runs {
			var o owner
			err := c.QueryRowContext(ctx, "SELECT owner, boot, lease FROM runs WHERE n = ?", r.n).Scan(&o.process, &o.boot, &o.lease)
			if err == sql.ErrNoRows || err == nil && o.lives() {
				continue
			}
			if err != nil {
				return err
			}
			for _, q := range []string{
				"DELETE FROM runs WHERE n = ?",
				"DELETE FROM records WHERE run = ?",
				"DELETE FROM uses WHERE run = ?",
				"DELETE FROM answers WHERE run = ?",
				"INSERT INTO doomed (run) VALUES (?)",
			} {
				if _, err := c.ExecContext(ctx, q, r.n); err != nil {
					return err
				}
			}
			gone = append(gone, r)
		}
		return nil
	})
	return gone, err
}

// shrink removes what removed runs have left, and gives the room back.
func (s *Store) shrink(ctx context.Context, op string, runs int, p Policy) error {
	dropFirings := func(ctx context.Context, c *sql.Conn) (more bool, err error) { return dropFirings(ctx, c, p) }
	for _, step := range []func(context.Context, *sql.Conn) (more bool, err error){dropTurns, dropDefinitions, dropFirings, vacuum} {
		for more := true; more; {
			err := s.write(ctx, op, func(ctx context.Context, c *sql.Conn) (err error) {
				more, err = step(ctx, c)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	if runs > 0 {
		if err := s.Audit(ctx, "prune", "", fmt.Sprintf("%d runs", runs)); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.checkpoint(context.WithoutCancel(ctx)) // the file shrinks later where somebody reads it
	return s.failed(op, err)
}

// dropTurns removes some turns of doomed runs.
func dropTurns(ctx context.Context, c *sql.Conn) (more bool, err error) {
	for left := int64(turnsAtOnce); left > 0; {
		var run int64
		err := c.QueryRowContext(ctx, "SELECT run FROM doomed LIMIT 1").Scan(&run)
		if err == sql.ErrNoRows {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		res, err := c.ExecContext(ctx, "DELETE FROM turns WHERE n IN (SELECT n FROM turns WHERE n BETWEEN ? AND ? LIMIT ?)",
			turn(run, 0), turn(run, maxSeq), left)
		if err != nil {
			return false, err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return false, err
		}
		if n < left {
			if _, err := c.ExecContext(ctx, "DELETE FROM doomed WHERE run = ?", run); err != nil {
				return false, err
			}
		}
		left -= n + 1 // a run without turns is work as well
	}
	return true, nil
}

func dropDefinitions(ctx context.Context, c *sql.Conn) (more bool, err error) {
	_, err = c.ExecContext(ctx, "DELETE FROM definitions WHERE NOT EXISTS (SELECT 1 FROM uses WHERE uses.digest = definitions.digest)")
	return false, err
}

// dropFirings removes slots of schedules that were dealt with before the oldest run began
// that is left, or longer ago than runs are kept, but none of the last day and none whose
// run is still to begin. Cursors keep them from being fired again.
func dropFirings(ctx context.Context, c *sql.Conn, p Policy) (more bool, err error) {
	now := time.Now()
	day := now.Add(-24 * time.Hour).UnixNano()
	var before int64
	if p.OlderThan > 0 {
		before = now.Add(-p.OlderThan).UnixNano()
	}
	res, err := c.ExecContext(ctx, `DELETE FROM firings WHERE n IN (SELECT n FROM firings
		WHERE open = 0 AND at < ?1 AND at < max(?2, coalesce((SELECT started FROM runs ORDER BY n LIMIT 1), ?1)) LIMIT ?3)`,
		day, before, turnsAtOnce)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == int64(turnsAtOnce), err
}

// vacuum moves some pages into the gaps, so that the file can be cut off.
func vacuum(ctx context.Context, c *sql.Conn) (more bool, err error) {
	before, err := freePages(ctx, c)
	if err != nil || before == 0 {
		return false, err
	}
	if _, err := c.ExecContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", pagesAtOnce)); err != nil {
		return false, err
	}
	after, err := freePages(ctx, c)
	return after > 0 && after < before, err
}

func freePages(ctx context.Context, c *sql.Conn) (pages int64, err error) {
	err = c.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&pages)
	return pages, err
}
