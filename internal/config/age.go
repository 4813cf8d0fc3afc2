package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Age parses a duration that may have weeks and days: 7d, 2w, 1d12h. "" is 0.
func Age(s string) (time.Duration, error) {
	var total time.Duration
	rest := s
	for _, unit := range []struct {
		sign string
		d    time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		if head, tail, ok := strings.Cut(rest, unit.sign); ok {
			n, err := strconv.ParseUint(head, 10, 16)
			if err != nil {
				return 0, fmt.Errorf("%q is not a duration; write 30d, 12h or 1h30m", s)
			}
			total += time.Duration(n) * unit.d
			rest = tail
		}
	}
	if rest == "" {
		return total, nil
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration; write 30d, 12h or 1h30m", s)
	}
	return total + d, nil
}
