package jsworld

// leaveTerminal does nothing: children have no console on Windows.
func leaveTerminal() {}
