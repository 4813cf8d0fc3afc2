package runview

// onContinue does nothing: Windows has no Ctrl-Z.
func onContinue(func()) (stop func()) { return func() {} }
