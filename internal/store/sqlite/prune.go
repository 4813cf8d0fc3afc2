package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/internal/lang/plural"
)

// Policy is how much history to keep. A run is removed if it exceeds any limit that is set;
// the zero Policy keeps everything. A run with a living owner is never removed.
type Policy struct {
	OlderThan time.Duration // removes runs that ended longer ago, or started longer ago and did not end
	Keep      int           // removes all but this number of newest runs
	MaxSize   int64         // removes the oldest runs until the history and the files of the runs take at most this many bytes on disk
	Files     RunFiles      // the files of the runs; nil: there are none
	DryRun    bool          // only reports what would be removed
	Routine   bool          // regular cleanup: it is not noted in the audit list
	// Progress is called after each batch with how many of the runs that exceed a limit are removed; nil: nobody watches.
	Progress func(removed, total int)
}

// RunFiles are what runs keep beside the history. Sizes are bytes on disk.
type RunFiles interface {
	Size() int64             // of all runs
	SizeOf(run string) int64 // that Remove frees
	Remove(run string) error
}

// Retention removes history.
type Retention struct{ db *db }

// Retention returns the Retention of this history.
func (s *Store) Retention() Retention { return Retention{s.db} }

// Due reports whether Prune may find something to remove. It reads only a few rows. With a
// MaxSize it always returns true.
func (s Retention) Due(ctx context.Context, p Policy) (bool, error) {
	if s.db.reads == nil {
		return false, nil
	}
	if p.MaxSize > 0 {
		return true, nil
	}
	var more, old bool
	const q = `SELECT EXISTS (SELECT 1 FROM runs ORDER BY n DESC LIMIT 1 OFFSET ?1),
		EXISTS (SELECT 1 FROM (SELECT coalesce(ended, started) AS at FROM runs ORDER BY n LIMIT 20) WHERE at < ?2)`
	err := s.db.reads.QueryRowContext(ctx, q, p.Keep, time.Now().Add(-p.OlderThan).UnixNano()).Scan(&more, &old)
	return p.Keep > 0 && more || p.OlderThan > 0 && old, s.db.failed("read the history", err)
}

// Pruned is what Prune removed.
type Pruned struct {
	IDs   []string // of the runs, oldest first
	Bytes int64    // about how much space that frees, with the files of the runs
}

// How much one transaction removes, so that active runs wait for some milliseconds at most.
// Variables for tests.
var (
	runsAtOnce  = 200
	turnsAtOnce = 5000
	pagesAtOnce = 2000
)

// rounds is how often Prune removes runs until the MaxSize is met. What a run takes is only estimated.
const rounds = 5

// candidate is a run that Prune may remove.
type candidate struct {
	n     int64
	id    string
	at    time.Time // when it ended, or else started
	lives bool
	extra bool  // there are as many newer runs as Policy.Keep says
	size  int64 // bytes of its rows and files
}

// Prune removes history by a policy, with the files of the runs, and makes the file smaller. It uses short transactions,
// so that active runs can write in between. If ctx ends, it returns the runs that it has removed, and an error; the next
// Prune continues, as it does after a crash.
func (s Retention) Prune(ctx context.Context, p Policy) (Pruned, error) {
	var done Pruned
	if s.db.reads == nil {
		return done, nil
	}
	for range rounds {
		before := len(done.IDs)
		if err := s.round(ctx, p, &done); err != nil || p.DryRun || p.MaxSize == 0 || len(done.IDs) == before {
			return done, err
		}
	}
	return done, nil
}

// round removes the runs that exceed a limit now, and adds them to done.
func (s Retention) round(ctx context.Context, p Policy, done *Pruned) error {
	const op = "prune the history"
	runs, err := s.candidates(ctx, p, time.Now())
	if err != nil {
		return s.db.failed(op, err)
	}
	var total int64
	if p.MaxSize > 0 {
		if total, err = s.size(ctx, p); err != nil {
			return s.db.failed(op, err)
		}
	}
	chosen, err := choose(runs, p, time.Now(), total, func(r candidate) (int64, error) { return s.runSize(ctx, r, p) })
	if err != nil {
		return s.db.failed(op, err)
	}
	if p.DryRun {
		done.add(chosen)
		return nil
	}
	var failed error // to remove a file: the other runs are removed all the same
	noted, removed := 0, 0
	for part := range slices.Chunk(chosen, runsAtOnce) {
		gone, err := s.remove(ctx, op, part)
		if err != nil {
			return errors.Join(err, failed)
		}
		for _, r := range gone {
			if p.Files != nil {
				failed = errors.Join(failed, p.Files.Remove(r.id))
			}
		}
		done.add(gone)
		if removed += len(part); p.Progress != nil {
			p.Progress(removed, len(chosen))
		}
		if !p.Routine {
			noted += len(gone)
		}
	}
	return errors.Join(s.shrink(ctx, op, noted, p), failed)
}

func (p *Pruned) add(runs []candidate) {
	for _, r := range runs {
		p.IDs = append(p.IDs, r.id)
		p.Bytes += r.size
	}
}

// youngInARow is how many young runs in a row tell that all newer ones are young too. Runs are
// read in the order in which they were recorded. Started is the time of the machine that
// recorded them, which may have been wrong for a while.
const youngInARow = 1000

// candidates returns the runs that may exceed a limit, oldest first. It does not read the newer
// ones, of which there may be a million, unless there is a MaxSize.
func (s Retention) candidates(ctx context.Context, p Policy, now time.Time) (runs []candidate, err error) {
	kept, err := s.oldestKept(ctx, p.Keep)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.reads.QueryContext(ctx, "SELECT n, id, started, coalesce(ended, started), owner, boot, lease FROM runs ORDER BY n")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for young := 0; young < youngInARow && rows.Next(); {
		var r candidate
		var started, at int64
		var o owner
		if err := rows.Scan(&r.n, &r.id, &started, &at, &o.process, &o.boot, &o.lease); err != nil {
			return nil, err
		}
		r.at, r.lives, r.extra = time.Unix(0, at), o.lives(), r.n < kept
		runs = append(runs, r)
		young++
		if r.extra || p.MaxSize > 0 || p.OlderThan > 0 && now.Sub(time.Unix(0, started)) > p.OlderThan {
			young = 0
		}
	}
	return runs, rows.Err()
}

// oldestKept returns the number of the oldest run that is among the newest keep ones, 0 if all
// are or keep is 0.
func (s Retention) oldestKept(ctx context.Context, keep int) (n int64, err error) {
	if keep > 0 {
		err = s.db.reads.QueryRowContext(ctx, "SELECT n FROM runs ORDER BY n DESC LIMIT 1 OFFSET ?", keep-1).Scan(&n)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return n, err
}

// size returns the size in bytes of the used part of the file, to which shrink makes it, and of the files of the runs.
func (s Retention) size(ctx context.Context, p Policy) (int64, error) {
	var pages, free, size int64
	for q, to := range map[string]*int64{"page_count": &pages, "freelist_count": &free, "page_size": &size} {
		if err := s.db.reads.QueryRowContext(ctx, "PRAGMA "+q).Scan(to); err != nil {
			return 0, err
		}
	}
	total := (pages - free) * size
	if p.Files != nil {
		total += p.Files.Size()
	}
	return total, nil
}

// What a run takes in the file beside its record and its events. 2,000 runs of two short steps have 540 bytes of these each,
// and take 1,140 bytes of the file.
const (
	bytesOfRun  = 350 // rows of other tables, and entries of indexes
	roomInPages = 4   // one part in so many is room that is left in pages
)

// runSize returns about how many bytes the run takes.
func (s Retention) runSize(ctx context.Context, r candidate, p Policy) (n int64, err error) {
	err = s.db.reads.QueryRowContext(ctx, `SELECT
		(SELECT coalesce(sum(length(record)), 0) FROM records WHERE run = ?1) +
		(SELECT coalesce(sum(length(events)), 0) FROM turns WHERE n BETWEEN ?2 AND ?3)`,
		r.n, turn(r.n, 0), turn(r.n, maxSeq)).Scan(&n)
	n += n/roomInPages + bytesOfRun
	if p.Files != nil {
		n += p.Files.SizeOf(r.id)
	}
	return n, err
}

// choose returns the runs to remove, with their sizes. Both lists have the oldest first.
func choose(runs []candidate, p Policy, now time.Time, total int64, weigh func(candidate) (int64, error)) (list []candidate, err error) {
	for _, r := range runs {
		old := p.OlderThan > 0 && now.Sub(r.at) > p.OlderThan
		large := p.MaxSize > 0 && total > p.MaxSize
		if r.lives || !old && !r.extra && !large {
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

// remove removes runs from the history, except those that have been claimed in the
// meantime, and returns the removed ones. dropTurns removes their turns later.
func (s Retention) remove(ctx context.Context, op string, runs []candidate) (gone []candidate, err error) {
	err = s.db.write(ctx, op, func(ctx context.Context, c *conn) error {
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
				"DELETE FROM state_seen WHERE run = ?",
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

// shrink removes what the removed runs have left, and gives the space back to the file
// system.
func (s Retention) shrink(ctx context.Context, op string, runs int, p Policy) error {
	dropFirings := func(ctx context.Context, c *conn) (more bool, err error) { return dropFirings(ctx, c, p) }
	for _, step := range []func(context.Context, *conn) (more bool, err error){dropTurns, dropDefinitions, dropFirings, dropDigests, vacuum} {
		for more := true; more; {
			err := s.db.write(ctx, op, func(ctx context.Context, c *conn) (err error) {
				more, err = step(ctx, c)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	if runs > 0 {
		if err := Audit(s).Add(ctx, "prune", "", plural.Of(runs, "run")); err != nil {
			return err
		}
	}
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	_, err := s.db.checkpoint(context.WithoutCancel(ctx)) // if another process reads the file, it shrinks later
	return s.db.failed(op, err)
}

// dropTurns removes some of the turns of removed runs.
func dropTurns(ctx context.Context, c *conn) (more bool, err error) {
	for left := int64(turnsAtOnce); left > 0; {
		var run int64
		err := c.QueryRowContext(ctx, "SELECT run FROM doomed LIMIT 1").Scan(&run)
		if err == sql.ErrNoRows {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		n, err := c.change(ctx, "DELETE FROM turns WHERE n IN (SELECT n FROM turns WHERE n BETWEEN ? AND ? LIMIT ?)",
			turn(run, 0), turn(run, maxSeq), left)
		if err != nil {
			return false, err
		}
		if n < left {
			if _, err := c.ExecContext(ctx, "DELETE FROM doomed WHERE run = ?", run); err != nil {
				return false, err
			}
		}
		left -= n + 1 // a run without turns takes time too
	}
	return true, nil
}

func dropDefinitions(ctx context.Context, c *conn) (more bool, err error) {
	_, err = c.ExecContext(ctx, "DELETE FROM definitions WHERE NOT EXISTS (SELECT 1 FROM uses WHERE uses.digest = definitions.digest)")
	return false, err
}

// dropFirings removes firings older than the oldest run that is left, or older than runs
// are kept. It keeps those of the last day and those whose run has not started. The removed
// times do not fire again, because the cursors are past them.
func dropFirings(ctx context.Context, c *conn, p Policy) (more bool, err error) {
	now := time.Now()
	day := now.Add(-24 * time.Hour).UnixNano()
	var before int64
	if p.OlderThan > 0 {
		before = now.Add(-p.OlderThan).UnixNano()
	}
	n, err := c.change(ctx, `DELETE FROM firings WHERE n IN (SELECT n FROM firings
		WHERE open = 0 AND at < ?1 AND at < max(?2, coalesce((SELECT started FROM runs ORDER BY n LIMIT 1), ?1)) LIMIT ?3)`,
		day, before, turnsAtOnce)
	return n == int64(turnsAtOnce), err
}

// vacuum moves some pages to free places, so that the file can be truncated.
func vacuum(ctx context.Context, c *conn) (more bool, err error) {
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

func freePages(ctx context.Context, c *conn) (pages int64, err error) {
	err = c.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&pages)
	return pages, err
}
