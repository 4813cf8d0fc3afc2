//go:build !linux

package steps

import (
	"errors"
	"os"
)

// Only Linux has files without a name.
func unnamed(string) *os.File     { return nil }
func link(*os.File, string) error { return errors.ErrUnsupported }
