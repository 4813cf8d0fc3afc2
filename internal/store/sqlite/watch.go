package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// watch renews the leases of this process's runs, and checks whether others have cancelled
// or claimed one. A failed write is retried the next time; that is safe, because a run that
// was lost cannot be written to.
func (s *Store) watch() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	renewed, seen := procid.Uptime(), int64(-1)
	for {
		select {
		case <-s.db.stop:
			return
		case <-tick.C:
		}
		ledgers := s.openLedgers()
		if len(ledgers) == 0 { // an idle service must not use CPU time
			select {
			case <-s.db.stop:
				return
			case <-s.ledgerAdded:
			}
			continue
		}
		// By the clock of the boot, which counts the time in which the machine slept.
		if now := procid.Uptime(); now-renewed >= renewEvery && s.renew(ledgers) == nil {
			renewed = now
		}
		for _, l := range ledgers {
			if l.hasPendingAnswers() {
				l.deliverAnswers() // if it fails, the next round tries again
			}
		}
		if version, err := s.db.changes(); err == nil && version != seen && s.checkLedgers(ledgers) == nil {
			seen = version
		}
	}
}

// renew extends the leases. checkLedgers finds out which runs are lost.
func (s *Store) renew(ledgers []*ledger) error {
	return s.db.write(context.Background(), "renew the leases", func(ctx context.Context, c *conn) error {
		_, _, lease, alive := s.ownership()
		for _, l := range ledgers {
			_, err := c.ExecContext(ctx, "UPDATE runs SET lease = ?, alive = ? WHERE n = ? AND epoch = ? AND owner IS NOT NULL", lease, alive, l.run, l.epoch)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// checkLedgers notifies each ledger of what others have done to its run.
func (s *Store) checkLedgers(ledgers []*ledger) error {
	for _, l := range ledgers {
		var epoch int
		var cancel sql.NullString
		err := s.db.reads.QueryRow("SELECT epoch, cancel FROM runs WHERE n = ?", l.run).Scan(&epoch, &cancel)
		switch {
		case errors.Is(err, sql.ErrNoRows), err == nil && epoch != l.epoch:
			l.fence()
		case err != nil:
			return err
		case cancel.Valid:
			l.requestCancel(cancel.String)
		}
		if err := l.deliverAnswers(); err != nil {
			return err
		}
	}
	return nil
}
