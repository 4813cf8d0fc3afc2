package cache

// failpoint, where set, is called at each point at which a process that is killed
// leaves something else behind. It is set by the package's tests, or with the build
// tag failpoint.
var failpoint func(at string)

func pass(at string) {
	if failpoint != nil {
		failpoint(at)
	}
}
