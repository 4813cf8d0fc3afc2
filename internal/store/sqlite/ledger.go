package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/store/eventcode"
)

// insertTurnSQL writes nothing if the run has another owner.
const insertTurnSQL = "INSERT INTO turns (n, events) SELECT ?, ? WHERE EXISTS (SELECT 1 FROM runs WHERE n = ? AND epoch = ?)"

// ledger is the history.Ledger of a run that this process owns.
type ledger struct {
	store          *Store
	run            int64
	id             string
	epoch          int
	lost           chan struct{}
	cancelRequests chan string

	appending sync.Mutex // held during Append
	buf       []byte     // the events of the turn, encoded
	artifacts bool       // the run is known to have an artifact

	mu              sync.Mutex
	closedErr       error // why nothing can be written any more; nil while it can
	closed          bool
	cancelRequested bool // cancelRequests has got its reason
	queued          bool // the run has, or had, a ticket

	answers          chan history.Answer
	deliveredAnswers map[uint64]bool // questions whose answers were sent to the channel
	answersPending   bool            // there are answers that did not fit into the channel
}

// newLedger makes the ledger of a run that this process owns now. answers is the number of
// stored answers.
func (s *Store) newLedger(run int64, id string, epoch, answers int) *ledger {
	l := &ledger{store: s, run: run, id: id, epoch: epoch, lost: make(chan struct{}), cancelRequests: make(chan string, 1),
		answers: make(chan history.Answer, answers+spareAnswers), deliveredAnswers: map[uint64]bool{}}
	s.ledgersMu.Lock()
	defer s.ledgersMu.Unlock()
	s.ledgers[run] = l
	select {
	case s.ledgerAdded <- struct{}{}:
	default:
	}
	return l
}

func (l *ledger) Epoch() int                    { return l.epoch }
func (l *ledger) Lost() <-chan struct{}         { return l.lost }
func (l *ledger) CancelRequests() <-chan string { return l.cancelRequests }

func (l *ledger) Answers() <-chan history.Answer { return l.answers }

// Append implements dag.Journal. It makes one commit. The events must be those of one turn.
func (l *ledger) Append(ctx context.Context, events []dag.Event) error {
	if len(events) == 0 {
		return nil
	}
	op := "append to run " + l.id
	if err := l.usable(); err != nil {
		return fmt.Errorf("cannot %s: %w", op, err)
	}
	seq := events[len(events)-1].Seq
	if seq == 0 || seq > maxSeq {
		return fmt.Errorf("cannot %s: invalid event number %d", op, seq)
	}
	l.appending.Lock()
	defer l.appending.Unlock()
	l.buf = eventcode.Append(l.buf[:0], l.id, events)
	err := l.commit(context.WithoutCancel(ctx), seq, events)
	if errors.Is(err, history.ErrFenced) {
		l.fence()
		return fmt.Errorf("cannot %s: %w", op, err)
	}
	return l.store.db.failed(op, err)
}

// commit writes the turn in l.buf, together with the status of the run if it changed, with the
// state of tools that the turn sets, and that the run has an artifact.
func (l *ledger) commit(ctx context.Context, seq uint64, events []dag.Event) error {
	l.store.db.mu.Lock()
	defer l.store.db.mu.Unlock()
	if err := l.store.db.wal.failure(); err != nil {
		return err
	}
	change, state := lastStatusEvent(events), history.StateChanges(events)
	artifacts := !l.artifacts && slices.ContainsFunc(events, func(e dag.Event) bool { return history.KeepsArtifact(&e) })
	if change == nil && len(state) == 0 && !artifacts {
		passPoint("append-before")
		if err := l.insertTurn(ctx, seq); err != nil {
			return err
		}
		l.store.db.wal.committed()
		passPoint("append-after")
		return nil
	}
	passPoint("finish-before")
	err := l.store.db.withReserve("append to run "+l.id, func() error {
		return l.store.db.transact(ctx, func(ctx context.Context, c *conn) error {
			if err := l.insertTurn(ctx, seq); err != nil {
				return err
			}
			if err := l.commitState(ctx, c, state); err != nil {
				return err
			}
			if artifacts {
				if _, err := c.ExecContext(ctx, "UPDATE runs SET artifacts = 1 WHERE n = ?", l.run); err != nil {
					return err
				}
			}
			passPoint("finish-during")
			return l.updateRun(ctx, c, change)
		})
	})
	if err != nil {
		return err
	}
	l.artifacts = l.artifacts || artifacts
	passPoint("finish-after")
	return nil
}

func (l *ledger) insertTurn(ctx context.Context, seq uint64) error {
	n, err := l.store.db.conn.change(ctx, insertTurnSQL, turn(l.run, seq), l.buf, l.run, l.epoch)
	if err != nil || n == 1 {
		return err
	}
	return history.ErrFenced
}

// lastStatusEvent returns the last event that changed the status of the run, nil if there
// is none.
func lastStatusEvent(events []dag.Event) *dag.Event {
	for i := len(events) - 1; i >= 0; i-- {
		if k := events[i].Kind; k == dag.RunFinished || k == dag.RunResumed {
			return &events[i]
		}
	}
	return nil
}

func (l *ledger) updateRun(ctx context.Context, c *conn, e *dag.Event) error {
	if e == nil {
		return nil
	}
	if e.Kind == dag.RunResumed || e.Result == nil {
		_, err := c.ExecContext(ctx, "UPDATE runs SET status = ?, exit_code = 0, reason = '', message = '', notes = '', ended = NULL, retry_at = 0 WHERE n = ?",
			dag.Running.String(), l.run)
		return err
	}
	r := e.Result
	_, err := c.ExecContext(ctx, "UPDATE runs SET status = ?, exit_code = ?, reason = ?, message = ?, notes = ?, ended = ?, retry_at = ? WHERE n = ?",
		r.Status.String(), r.ExitCode, r.Reason, r.Message, strings.Join(r.Notes, "\n"), e.Time.UnixNano(), nanoseconds(e.Due), l.run)
	return err
}

// Sync waits until everything is on disk, and checks that this ledger still owns the run.
func (l *ledger) Sync(ctx context.Context) error {
	op := "sync run " + l.id + " to disk"
	if err := l.usable(); err != nil {
		return fmt.Errorf("cannot %s: %w", op, err)
	}
	if err := l.store.db.wal.sync(); err != nil {
		return l.store.db.failed(op, err)
	}
	owned, err := l.isOwner(context.WithoutCancel(ctx))
	switch {
	case err != nil:
		return l.store.db.failed(op, err)
	case !owned:
		l.fence()
		return fmt.Errorf("cannot %s: %w", op, history.ErrFenced)
	}
	return nil
}

func (l *ledger) isOwner(ctx context.Context) (owned bool, err error) {
	l.store.db.mu.Lock()
	defer l.store.db.mu.Unlock()
	err = l.store.db.conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM runs WHERE n = ? AND epoch = ?)", l.run, l.epoch).Scan(&owned)
	return owned, err
}

// Close gives up the run; another owner can claim it immediately.
func (l *ledger) Close() error {
	l.mu.Lock()
	done, queued := l.closed, l.queued
	fenced := l.closedErr != nil
	l.closed = true
	if !fenced {
		l.closedErr = fmt.Errorf("%w: this process has released it", history.ErrFenced)
	}
	l.mu.Unlock()
	if done {
		return nil
	}
	defer l.store.forgetLedger(l)
	if fenced {
		return nil
	}
	passPoint("close-before")
	op := "release run " + l.id
	err := l.store.db.withReserve(op, func() error { return l.release(op, queued) })
	if err != nil {
		return err
	}
	if queued {
		l.store.queue.notifyChanged()
	}
	passPoint("close-after")
	return nil
}

// release writes that the run has no owner. That alone is not counted as a commit (last_commit.go):
// if it is lost, so is the owner.
func (l *ledger) release(op string, queued bool) error {
	const release = "UPDATE runs SET owner = NULL, lease = 0, alive = ? WHERE n = ? AND epoch = ?"
	s, ctx, alive := l.store, context.Background(), time.Now().UnixNano()
	if queued {
		return s.db.write(ctx, op, func(ctx context.Context, c *conn) error {
			if _, err := c.ExecContext(ctx, release, alive, l.run, l.epoch); err != nil {
				return err
			}
			return leaveQueue(ctx, c, l.run, l.epoch)
		})
	}
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	if _, err := s.db.conn.ExecContext(ctx, release, alive, l.run, l.epoch); err != nil {
		return s.db.failed(op, err)
	}
	s.db.wal.committed()
	return nil
}

// forgetLedger removes a ledger from the open ones.
func (s *Store) forgetLedger(l *ledger) {
	s.ledgersMu.Lock()
	defer s.ledgersMu.Unlock()
	if s.ledgers[l.run] == l {
		delete(s.ledgers, l.run)
	}
}

// usable returns why nothing can be written, nil if it can.
func (l *ledger) usable() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closedErr
}

// fence marks that another owner has the run.
func (l *ledger) fence() {
	l.store.forgetLedger(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closedErr == nil {
		l.closedErr = history.ErrFenced
		close(l.lost)
	}
}

// requestCancel passes on the first request to cancel.
func (l *ledger) requestCancel(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.cancelRequested {
		l.cancelRequested = true
		l.cancelRequests <- reason
	}
}
