package measure

import (
	"context"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// Journal wraps a run's journal and measures its time. It has the type of
// flowrun.Config.Journal.
func (m *Metrics) Journal(j dag.Journal) dag.Journal { return journal{j, &m.families} }

type journal struct {
	dag.Journal
	families *families
}

// Append measures the time of the journal's Append.
func (j journal) Append(ctx context.Context, events []dag.Event) error {
	begin := time.Now()
	err := j.Journal.Append(ctx, events)
	j.families.journalAppend.With().Observe(seconds(time.Since(begin)))
	return err
}

// Sync measures the time of the journal's Sync.
func (j journal) Sync(ctx context.Context) error {
	begin := time.Now()
	err := j.Journal.Sync(ctx)
	j.families.journalSync.With().Observe(seconds(time.Since(begin)))
	return err
}
