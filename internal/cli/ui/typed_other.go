//go:build !linux

package ui

import "os"

// DiscardTyped forgets nothing here: what was typed before a question may answer it.
func DiscardTyped(*os.File) {}
