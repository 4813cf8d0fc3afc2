package runview

// continued has nothing to wait for: there is no Ctrl-Z on Windows.
func continued(func()) (stop func()) { return func() {} }
