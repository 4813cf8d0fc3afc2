package sqlite

// failpoint, if set, is called with a name directly before and after each write, so that a
// test can end the process at that point. It is set before a Store is opened, by the tests
// of the package or with the build tag failpoint.
var failpoint func(name string)

func passPoint(name string) {
	if failpoint != nil {
		failpoint(name)
	}
}
