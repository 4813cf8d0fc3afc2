package proc

// How many descriptors a running step holds: its two log files and a pidfd, or also two pipes, and a
// terminal or the files of listeners.
const (
	LeastDescriptors = 3
	MostDescriptors  = 8
)

// MaxParallel returns how many processes can run at the same time before this process runs out of
// descriptors. It is at least 1.
func MaxParallel() int { return max(StepDescriptors()/LeastDescriptors, 1) }
