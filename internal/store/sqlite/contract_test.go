package sqlite

import (
	"context"
	"testing"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/test/storetest"
)

func TestContract(t *testing.T) {
	defer func(n int) { pageSize = n }(pageSize)
	pageSize = 100 << 10 // so that reading events takes several turns
	storetest.Test(t, func(t *testing.T) history.Store { return lapser{openTest(t, t.TempDir())} })
}

// openTest opens a history and closes it with the test.
func openTest(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// lapser opens the history a second time, as another process would.
type lapser struct{ *Store }

func (s lapser) Lapse(t *testing.T, run string) history.Store {
	other := openTest(t, s.db.dir)
	err := other.db.write(context.Background(), "lapse", func(ctx context.Context, c *conn) error {
		_, err := c.ExecContext(ctx, `UPDATE runs SET owner = '{"pid":1,"boot":"another"}' WHERE id = ?`, run)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.queue.notifyChanged() // whoever stands behind it sees the death of a process, but this one lives
	return other
}
