package proc

// FillReserve does nothing: Windows has no small bound of handles.
func FillReserve() {}

// WithReserve does something.
func WithReserve(do func()) { do() }
