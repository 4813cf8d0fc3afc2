package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/temporal/internal/datastore"
)

// seenWithin is how long after its last request to the service a worker counts as running: a request takes a minute.
const seenWithin = 2 * time.Minute

// markStore puts a marker into the store, and returns the name by which the service knows this worker: it contains the digest
// of the marker. The marker is renewed until ctx ends.
func (l *link) markStore(ctx context.Context) (identity string, err error) {
	m := datastore.NewMarker(l.store)
	if err := m.Put(ctx); err != nil {
		return "", fmt.Errorf("cannot write to the store %s: %w", l.store, err)
	}
	go func() {
		for t := time.NewTicker((margin - datastore.RenewAfter) / 2); ; { // so it is never older than margin, and prune keeps it
			select {
			case <-t.C:
				_ = m.Put(ctx) // if it fails, the next one renews it
			case <-ctx.Done():
				t.Stop()
				return
			}
		}
	}()
	host, _ := os.Hostname()
	return fmt.Sprintf("%d@%s %s", os.Getpid(), host, m.Digest()), nil
}

// checkStore refuses to continue if a worker of the task queue has another store: runs would wait forever for values that
// are not there.
func (l *link) checkStore(ctx context.Context) error {
	workers, err := l.DescribeTaskQueue(ctx, l.queue, enums.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return ui.ServiceErrorf("cannot see the workers of task queue %s: %w", l.queue, err)
	}
	for _, p := range workers.GetPollers() {
		who, mark, ok := strings.Cut(p.GetIdentity(), " ")
		if !ok || time.Since(p.GetLastAccessTime().AsTime()) > seenWithin {
			continue
		}
		switch _, err := l.store.Size(ctx, mark); {
		case errors.Is(err, datastore.ErrMissing):
			return &ui.RefusedError{Reason: fmt.Sprintf("worker %s of task queue %s has another store than this program (%s); who starts runs and all workers need the same --store", who, l.queue, l.store)}
		case err != nil:
			return fmt.Errorf("cannot read the store %s: %w", l.store, err)
		}
	}
	return nil
}
