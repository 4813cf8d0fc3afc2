package proc

import (
	"slices"

	"github.com/flowrun/flowrun/internal/procid"
)

// StillRunning are the processes that the owners of runs have started and that still live. Ask
// for runs without an owner only: what a living one has started is there by right. The
// error is why the table of processes cannot be read.
func StillRunning(runs []string) ([]procid.Info, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	t, err := procid.ReadTable(0)
	if err != nil {
		return nil, err
	}
	var list []procid.Info
	for _, e := range t {
		if e.Mark != "" && slices.ContainsFunc(runs, func(run string) bool { return procid.OfRun(e.Mark, run) }) {
			list = append(list, e.Info)
		}
	}
	return list, nil
}
