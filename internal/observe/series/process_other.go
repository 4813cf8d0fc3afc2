//go:build !linux

package series

// processFamilies returns nothing: only Linux reports these numbers in files.
func processFamilies() []Family { return nil }
