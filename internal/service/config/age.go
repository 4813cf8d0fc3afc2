package config

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/internal/lang/duration"
)

// Age parses a duration that is not negative. "" is 0.
func Age(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := duration.Parse(s)
	if err == nil && d < 0 {
		err = fmt.Errorf("%q is negative; write 30d, 12h or 1h30m", s)
	}
	return d, err
}
