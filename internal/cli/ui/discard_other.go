//go:build !linux

package ui

import "os"

// DiscardTyped does nothing on this system: input from before a question may answer it.
func DiscardTyped(*os.File) {}
