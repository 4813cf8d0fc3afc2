package proc

// MaxParallel is how many processes may run at once; Windows has no small bound.
func MaxParallel() int { return 1 << 16 }
