package proc

// SpareDescriptors returns how many handles may be held only because that is faster.
func SpareDescriptors() int { return 0 }

// StepDescriptors returns how many handles the running steps may have together.
func StepDescriptors() int { return MaxFiles() }

// MaxFiles returns how many handles this process may have. Windows has no small limit.
func MaxFiles() int { return 1 << 19 }
