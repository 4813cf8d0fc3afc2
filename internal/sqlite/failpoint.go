package sqlite

// failpoint, where set, is called by name right before and after each write, so
// that a test can end the process exactly there. It is set before a Store is
// opened: by the package's tests, or with the build tag failpoint.
var failpoint func(name string)

func passPoint(name string) {
	if failpoint != nil {
		failpoint(name)
	}
}
