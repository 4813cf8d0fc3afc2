package procid

import (
	"strconv"
	"strings"
)

// Variables in the environment of a step's processes. MarkOwner and MarkStep are used to find the
// processes again; MarkRun is for people.
const (
	MarkOwner = "FLOWRUN_OWNER" // the Mark of the run and its owner
	MarkRun   = "FLOWRUN_RUN"   // the run's id
	MarkStep  = "FLOWRUN_STEP"  // the step's path
)

// Mark returns the value of MarkOwner for the processes that one owner of a run starts. The epoch
// counts the owners of a run from 1; 0 means 1. The mark lets an owner that has lost its run end
// what it started itself, and nothing of the next owner.
func Mark(run string, epoch int) string { return run + "." + strconv.Itoa(max(epoch, 1)) }

// OfRun reports whether a mark belongs to the run, in any epoch. The run id may contain dots
// itself: the epoch follows the last one.
func OfRun(mark, run string) bool {
	of, epoch := SplitMark(mark)
	_, err := strconv.ParseUint(epoch, 10, 64)
	return of == run && err == nil
}

// SplitMark splits a mark into the run id and the epoch. The epoch is "" if there is no dot.
func SplitMark(mark string) (run, epoch string) {
	i := strings.LastIndexByte(mark, '.')
	if i < 0 {
		return mark, ""
	}
	return mark[:i], mark[i+1:]
}
