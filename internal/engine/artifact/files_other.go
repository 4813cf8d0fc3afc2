//go:build !linux

package artifact

import (
	"errors"
	"os"
)

func clone(_, _ *os.File) error { return errors.ErrUnsupported }
