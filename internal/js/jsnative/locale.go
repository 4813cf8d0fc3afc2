package jsnative

import (
	"os"
	"strings"
	"time"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// ZoneName returns the name of a time zone in its usual notation, or "" if there is no such zone.
// The name of the zone "" is that of the machine.
func ZoneName(name string) string {
	switch {
	case name == "":
		return localZone()
	case strings.EqualFold(name, "UTC") || strings.EqualFold(name, "GMT") || strings.EqualFold(name, "Etc/UTC"):
		return "UTC"
	case strings.EqualFold(name, "local"): // a name of package time alone
		return ""
	}
	for _, candidate := range []string{name, capitalized(name)} {
		if _, err := time.LoadLocation(candidate); err == nil {
			return candidate
		}
	}
	return ""
}

// capitalized returns europe/berlin as Europe/Berlin, which file systems distinguish.
func capitalized(name string) string {
	b := []byte(strings.ToLower(name))
	for i, c := range b {
		if c >= 'a' && c <= 'z' && (i == 0 || b[i-1] == '/' || b[i-1] == '_' || b[i-1] == '-') {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

// localZone returns the name of the machine's time zone, or UTC if it is not known.
func localZone() string {
	name := strings.TrimPrefix(os.Getenv("TZ"), ":")
	if name == "" {
		if file, err := os.Readlink("/etc/localtime"); err == nil {
			_, name, _ = strings.Cut(file, "zoneinfo/")
		}
	}
	if name == "" || strings.HasPrefix(name, "/") || ZoneName(name) == "" {
		return "UTC"
	}
	return ZoneName(name)
}

// ZoneAt returns the offset of a time zone from UTC in seconds at a time in milliseconds, and the
// abbreviation of its name at that time.
func ZoneAt(name string, milliseconds float64) (offset int, abbreviation string, err error) {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return 0, "", err
	}
	abbreviation, offset = time.UnixMilli(int64(milliseconds)).In(zone).Zone()
	return offset, abbreviation, nil
}

// Collators keeps the collators that a script has used, by their options. Not safe for concurrent
// use.
type Collators map[collation]*collate.Collator

type collation struct {
	sensitivity string
	numeric     bool
}

// Compare compares two texts in the order of English. sensitivity is that of Intl.Collator.
func (c Collators) Compare(sensitivity string, numeric bool, a, b string) int {
	key := collation{sensitivity, numeric}
	found := c[key]
	if found == nil {
		found = key.collator()
		c[key] = found
	}
	return found.CompareString(a, b)
}

func (c collation) collator() *collate.Collator {
	var o []collate.Option
	switch c.sensitivity {
	case "base":
		o = append(o, collate.Loose)
	case "accent":
		o = append(o, collate.IgnoreCase, collate.IgnoreWidth)
	case "case":
		o = append(o, collate.IgnoreDiacritics, collate.IgnoreWidth)
	}
	if c.numeric {
		o = append(o, collate.Numeric)
	}
	return collate.New(language.English, o...)
}
