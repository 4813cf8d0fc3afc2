package cgroup

// Limits is what processes may use together. 0 means that something is not limited.
type Limits struct {
	Memory    int64   // bytes
	Processes int     // and threads
	CPU       float64 // processors: 0.5 is half of the time of one
	// CountCPU counts the CPU time of the processes, for [Limit.CPUTime]. It limits nothing.
	CountCPU bool
}
