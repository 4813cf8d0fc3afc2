package runview

// continued does nothing: Windows has no Ctrl-Z.
func continued(func()) (stop func()) { return func() {} }
