package proc

// MaxParallel returns how many processes can run at the same time. Windows has no small limit.
func MaxParallel() int { return 1 << 16 }

// MaxFiles returns how many handles this process may have. Windows has no small limit.
func MaxFiles() int { return 1 << 19 }
