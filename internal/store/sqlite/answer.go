package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// spareAnswers is how many new answers can wait for an owner to receive them, beside those
// that were there when it claimed the run. Further answers are delivered a moment later.
const spareAnswers = 8

// Answer implements history.Store. The owner gets the answer within about 150 ms. The
// answer is noted in the audit list.
func (s *Store) Answer(ctx context.Context, id string, a history.Answer) error {
	op := fmt.Sprintf("answer step %s of run %s", a.Step, id)
	if a.At.IsZero() {
		a.At = time.Now()
	}
	a.By = cmp.Or(a.By, actor(ctx))
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("cannot %s: %w", op, err)
	}
	if a.Wait > maxSeq {
		return fmt.Errorf("cannot %s: invalid event number %d", op, a.Wait)
	}
	var n int64
	passPoint("answer-before")
	err = s.db.write(ctx, op, func(ctx context.Context, c *conn) error {
		err := c.QueryRowContext(ctx, "SELECT n FROM runs WHERE id = ?", id).Scan(&n)
		if errors.Is(err, sql.ErrNoRows) {
			return noRun(op)
		}
		if err != nil {
			return err
		}
		if err := s.insertAnswer(ctx, c, n, op, a.Wait, string(text)); err != nil {
			return err
		}
		return addAudit(ctx, c, "answer", id, auditText(a, actor(ctx)))
	})
	if err != nil {
		return err
	}
	passPoint("answer-after")
	if l := s.ledger(n); l != nil {
		return s.db.failed(op, l.deliverAnswers()) // the watch only sees writes of others
	}
	return nil
}

// insertAnswer stores the answer to a question if it is the first.
func (s *Store) insertAnswer(ctx context.Context, c *conn, run int64, op string, wait uint64, text string) error {
	n, err := c.change(ctx, "INSERT INTO answers (run, wait, answer) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", run, wait, text)
	if err != nil || n == 1 {
		return err
	}
	var stands history.Answer
	var other []byte
	if err := c.QueryRowContext(ctx, "SELECT answer FROM answers WHERE run = ? AND wait = ?", run, wait).Scan(&other); err != nil {
		return err
	}
	if err := json.Unmarshal(other, &stands); err != nil {
		return &Error{Corrupt, s.db.file, op, err}
	}
	return fmt.Errorf("cannot %s: %w", op, history.Answered(stands))
}

// auditText returns an answer for the audit list, without its values, which belong to the
// run. who is the person that the entry names.
func auditText(a history.Answer, who string) string {
	text := a.Step + ": rejected"
	if a.Approve {
		text = a.Step + ": approved"
	}
	if a.By != who {
		text += " by " + a.By
	}
	if a.Comment != "" {
		text += ": " + a.Comment
	}
	return text
}

// deliverAnswers sends the owner the stored answers that it has not received.
func (l *ledger) deliverAnswers() error {
	list, err := l.store.answersOf(l.run)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answersPending = false
	for _, a := range list {
		if l.deliveredAnswers[a.Wait] {
			continue
		}
		select {
		case l.answers <- a:
			l.deliveredAnswers[a.Wait] = true
		default:
			l.answersPending = true
			return nil
		}
	}
	return nil
}

// hasPendingAnswers reports whether there are answers that did not fit into the owner's
// channel.
func (l *ledger) hasPendingAnswers() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answersPending
}

// answersOf returns the stored answers to a run's questions, in the order of the questions.
func (s *Store) answersOf(run int64) ([]history.Answer, error) {
	return rowsOf(context.Background(), s.db.reads, func(rows *sql.Rows, a *history.Answer) error {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			return err
		}
		return json.Unmarshal(text, a)
	}, "SELECT answer FROM answers WHERE run = ? ORDER BY wait", run)
}

// Suspend implements history.Ledger.
func (l *ledger) Suspend(message string, hold bool) error {
	op := "mark run " + l.id + " as waiting"
	if err := l.usable(); err != nil {
		return fmt.Errorf("cannot %s: %w", op, err)
	}
	passPoint("rest-before")
	err := l.store.db.write(context.Background(), op, func(ctx context.Context, c *conn) error {
		n, err := c.change(ctx, "UPDATE runs SET status = ?, message = ?, owner = NULL, lease = 0 WHERE n = ? AND epoch = ?",
			dag.Waiting.String(), message, l.run, l.epoch)
		switch {
		case err != nil:
			return err
		case n == 0:
			return fmt.Errorf("cannot %s: %w", op, history.ErrFenced)
		case hold:
			return dropTickets(ctx, c, "run = ? AND epoch = ? AND (step <> '' OR held = 0)", l.run, l.epoch)
		}
		return leaveQueue(ctx, c, l.run, l.epoch)
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	queued := l.queued
	l.queued = false // so that Close lets it keep what it holds
	l.mu.Unlock()
	if queued {
		l.store.queue.notifyChanged()
	}
	passPoint("rest-after")
	return l.Close()
}
