package proc

// StepDescriptors returns how many handles the running steps may have together.
func StepDescriptors() int { return MaxFiles() }

// MaxFiles returns how many handles this process may have. Windows has no small limit.
func MaxFiles() int { return 1 << 19 }
