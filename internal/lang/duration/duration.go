// Package duration reads and writes durations as people write them.
package duration

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

var calendar = []struct {
	sign string
	d    time.Duration
}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}}

// Parse reads a duration in the units of Go (500ms, 1h30m), and also in weeks and in days of 24
// hours: 2w, 1d, 1d12h.
func Parse(s string) (time.Duration, error) {
	var total time.Duration
	rest := s
	for _, unit := range calendar {
		head, tail, ok := strings.Cut(rest, unit.sign)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(head, 10, 16)
		if err != nil || time.Duration(n) > (math.MaxInt64-total)/unit.d {
			return 0, invalid(s)
		}
		total += time.Duration(n) * unit.d
		rest = tail
	}
	if rest == "" && s != "" {
		return total, nil
	}
	d, err := time.ParseDuration(rest)
	if err != nil || rest != s && (strings.ContainsAny(rest, "+-") || d > math.MaxInt64-total) {
		return 0, invalid(s)
	}
	return total + d, nil
}

// Text writes a duration without the trailing zeros of Go: 1m30s, 2h.
func Text(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func invalid(s string) error {
	return fmt.Errorf("%q is not a duration; write 30d, 12h or 1h30m", s)
}
