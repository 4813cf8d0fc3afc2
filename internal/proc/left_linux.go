package proc

import "slices"

// Left are the processes that the owners of runs have started and that still live. Ask
// for runs without an owner only: what a living one has started is there by right. The
// error is why the table of processes cannot be read.
func Left(runs []string) ([]Info, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	t, err := readTable(0)
	if err != nil {
		return nil, err
	}
	var list []Info
	for _, e := range t {
		if e.mark != "" && slices.ContainsFunc(runs, func(run string) bool { return ofRun(e.mark, run) }) {
			list = append(list, e.Info)
		}
	}
	return list, nil
}
