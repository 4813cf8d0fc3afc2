package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/config"
)

// ParseTime parses a date, a time (RFC 3339), or a duration before now. "" is the zero time.
func ParseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := tool.Moment(s, time.Local); err == nil {
		return t, nil
	}
	d, err := config.Age(s)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w, a date (2026-12-01) or a time (RFC 3339: 2026-12-01T08:00:00Z)", err)
	}
	return time.Now().Add(-d), nil
}

// units are the units of sizes: MB is 10^6, MiB is 2^20.
var units = []struct {
	sign  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1}}

// ParseBytes parses a size such as 500MB. "" is 0; otherwise the size is greater than 0.
func ParseBytes(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	for _, u := range units {
		if head, ok := strings.CutSuffix(s, u.sign); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(head), 64)
			if err != nil || n <= 0 || n*float64(u.bytes) > 1<<60 {
				break
			}
			return int64(n * float64(u.bytes)), nil
		}
	}
	return 0, fmt.Errorf("invalid size %q; write it as in 500MB, 2GB or 1GiB", s)
}

// FormatBytes formats a number of bytes for people.
func FormatBytes(n int64) string {
	switch {
	case n < 1e3:
		return fmt.Sprintf("%d B", n)
	case n < 1e6:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
