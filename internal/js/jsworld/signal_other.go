//go:build !unix

package jsworld

import "os"

// programSignals are the signals that are meant for the program and not for its child.
var programSignals = []os.Signal{os.Interrupt}
