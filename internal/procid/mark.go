package procid

import (
	"strconv"
	"strings"
)

// What a step's processes find in their environment. By MarkOwner and MarkStep
// they are found again; MarkRun is for people.
const (
	MarkOwner = "FLOWRUN_OWNER" // the Mark of the run's owner
	MarkRun   = "FLOWRUN_RUN"   // the run's id
	MarkStep  = "FLOWRUN_STEP"  // the step's path
)

// Mark is the value of MarkOwner in what one owner of a run starts. A run's owners
// are counted by epochs from 1; 0 counts as 1. An owner that has lost its run ends
// what it started itself and leaves the next one's processes alone.
func Mark(run string, epoch int) string { return run + "." + strconv.Itoa(max(epoch, 1)) }

// OfRun says whether a mark is the run's, of whatever epoch. The id may hold dots
// itself: the epoch is what stands behind the last.
func OfRun(mark, run string) bool {
	of, epoch := SplitMark(mark)
	_, err := strconv.ParseUint(epoch, 10, 64)
	return of == run && err == nil
}

func SplitMark(mark string) (run, epoch string) {
	i := strings.LastIndexByte(mark, '.')
	if i < 0 {
		return mark, ""
	}
	return mark[:i], mark[i+1:]
}
