package jsnative

import (
	"encoding/hex"
	"testing"
)

func TestDigest(t *testing.T) {
	for _, name := range []string{"sha256", "SHA-256", "RSA-SHA256"} {
		if got := hex.EncodeToString(Digest(name, []byte("abc"))); !HasDigest(name) || got[:8] != "ba7816bf" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if HasDigest("none") {
		t.Error("an unknown algorithm is supported")
	}
}

func TestRandom(t *testing.T) {
	if b, err := Random(8); len(b) != 8 || err != nil {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	for _, n := range []int{-1, maxRandom + 1} {
		if _, err := Random(n); err == nil {
			t.Errorf("%d bytes are allowed", n)
		}
	}
}

func TestZones(t *testing.T) {
	for name, want := range map[string]string{"Europe/Berlin": "Europe/Berlin", "europe/berlin": "Europe/Berlin", "utc": "UTC", "Etc/UTC": "UTC",
		"Nowhere": "", "local": "", "../etc/passwd": "", "/etc/localtime": ""} {
		if got := ZoneName(name); got != want {
			t.Errorf("%q is called %q, want %q", name, got, want)
		}
	}
	t.Setenv("TZ", "Asia/Tokyo")
	if got := ZoneName(""); got != "Asia/Tokyo" {
		t.Errorf("the zone of the machine is called %q", got)
	}
	for ms, want := range map[float64]int{1704067200000: 3600, 1719792000000: 7200} {
		if offset, _, err := ZoneAt("Europe/Berlin", ms); offset != want || err != nil {
			t.Errorf("%v: %d, %v; want %d", ms, offset, err, want)
		}
	}
}

func TestCompare(t *testing.T) {
	c := Collators{}
	for _, x := range []struct {
		sensitivity string
		numeric     bool
		a, b        string
		want        int
	}{
		{"variant", false, "a", "b", -1}, {"base", false, "a", "Á", 0}, {"accent", false, "a", "A", 0},
		{"variant", true, "x10", "x9", 1}, {"variant", false, "x10", "x9", -1}, {"variant", false, "z", "ä", 1},
	} {
		if got := c.Compare(x.sensitivity, x.numeric, x.a, x.b); got != x.want {
			t.Errorf("%+v: %d", x, got)
		}
	}
}
