package cache

// failpoint, if set, is called at each point where a killed process would leave a different state behind. The
// package's tests set it, or a program built with the tag failpoint.
var failpoint func(at string)

func passPoint(at string) {
	if failpoint != nil {
		failpoint(at)
	}
}
