package proc

// MaxParallel is how many processes may run at once; Windows has no small bound.
func MaxParallel() int { return 1 << 16 }

// MaxFiles is how many handles this process may have; Windows has no small bound.
func MaxFiles() int { return 1 << 19 }
