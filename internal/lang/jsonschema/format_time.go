package jsonschema

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

func dateError(s string) error {
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return errors.New("write a date such as 2026-01-31")
	}
	return nil
}

func dateTimeError(s string) error {
	if len(s) < 11 || s[10]|0x20 != 't' {
		return errors.New("write a date and time such as 2026-01-31T20:15:00Z")
	}
	if err := dateError(s[:10]); err != nil {
		return err
	}
	return timeError(s[11:])
}

// timeError follows RFC 3339, section 5.6. A leap second is allowed only as the last second of a day in
// UTC.
func timeError(s string) error {
	bad := errors.New("write a time such as 20:15:00Z or 20:15:00.5+01:00")
	if len(s) < 9 || s[2] != ':' || s[5] != ':' {
		return bad
	}
	hour, second := clock(s[:5]), twoDigits(s[6:8])
	zone := s[8:]
	if zone[0] == '.' {
		rest := strings.TrimLeft(zone[1:], "0123456789")
		if len(rest) == len(zone)-1 {
			return bad
		}
		zone = rest
	}
	offset := 0
	switch {
	case zone == "Z" || zone == "z":
	case len(zone) == 6 && (zone[0] == '+' || zone[0] == '-') && zone[3] == ':':
		if offset = clock(zone[1:]); offset < 0 {
			return bad
		}
		if zone[0] == '-' {
			offset = -offset
		}
	default:
		return bad
	}
	switch {
	case hour < 0 || second < 0 || second > 60:
		return bad
	case second == 60 && (hour-offset+48*60)%(24*60) != 24*60-1:
		return errors.New("second 60 exists only in the last minute of a day in UTC")
	}
	return nil
}

// clock returns hh:mm in minutes, -1 if the text is not a time.
func clock(s string) int {
	h, m := twoDigits(s[:2]), twoDigits(s[3:5])
	if h < 0 || h > 23 || m < 0 || m > 59 {
		return -1
	}
	return h*60 + m
}

// twoDigits returns a number of two digits, -1 if the text is not a number.
func twoDigits(s string) int {
	if !integer(s) {
		return -1
	}
	n, _ := strconv.Atoi(s)
	return n
}

// durationError follows RFC 3339, appendix A: units are in order, and weeks are alone. As in ISO 8601,
// units between two others may be left out.
func durationError(s string) error {
	rest, ok := strings.CutPrefix(s, "P")
	if weeks, is := strings.CutSuffix(rest, "W"); ok && is && integer(weeks) {
		return nil
	}
	days, hours, timed := strings.Cut(rest, "T")
	if !ok || rest == "" || !unitsOf(days, "YMD") || timed && (hours == "" || !unitsOf(hours, "HMS")) {
		return errors.New("write a duration such as P1DT2H30M or P2W")
	}
	return nil
}

// unitsOf reports whether a text consists of numbers with units, which are in the order of units.
func unitsOf(s, units string) bool {
	for s != "" {
		rest := strings.TrimLeft(s, "0123456789")
		if rest == "" || len(rest) == len(s) {
			return false
		}
		i := strings.IndexByte(units, rest[0])
		if i < 0 {
			return false
		}
		units, s = units[i+1:], rest[1:]
	}
	return true
}
