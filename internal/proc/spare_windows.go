package proc

// KeepSpare does nothing: Windows has no small bound of handles.
func KeepSpare() {}

// WithSpare does something.
func WithSpare(do func()) { do() }
