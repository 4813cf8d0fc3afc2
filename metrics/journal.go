package metrics

import (
	"context"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// Journal puts a stopwatch around a run's journal; flowrun.Config.Journal takes it as
// it is.
func (m *Metrics) Journal(j dag.Journal) dag.Journal { return journal{j, &m.families} }

type journal struct {
	dag.Journal
	families *families
}

// Append times the journal's.
func (j journal) Append(ctx context.Context, events []dag.Event) error {
	begin := time.Now()
	err := j.Journal.Append(ctx, events)
	j.families.journalAppend.Observe(seconds(time.Since(begin)))
	return err
}

// Sync times the journal's.
func (j journal) Sync(ctx context.Context) error {
	begin := time.Now()
	err := j.Journal.Sync(ctx)
	j.families.journalSync.Observe(seconds(time.Since(begin)))
	return err
}
