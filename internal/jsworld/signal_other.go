//go:build !unix

package jsworld

import "os"

// others are the signals that are meant for the program and not for its child.
var others = []os.Signal{os.Interrupt}
