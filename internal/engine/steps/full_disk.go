package steps

import "github.com/flowrun/flowrun/dag"

// explainFullDisk says in the Result of a failed attempt that there is no space for its log. The program writes into the
// log itself, so only the program gets the error, and its message about it is lost with the log.
func (t *attempt) explainFullDisk(r *dag.Result) {
	if r.Reason == dag.ReasonExit && r.Message == "" && t.session.keeper.DiskIsFull() {
		r.Message = "the disk of its log is full; free some space on the disk of the state directory"
	}
}
