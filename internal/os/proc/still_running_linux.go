package proc

import (
	"slices"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// StillRunning returns the living processes that the owners of these runs have started. Ask only
// for runs without an owner: processes of a living owner are not leftovers. It fails if the process
// table cannot be read.
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
