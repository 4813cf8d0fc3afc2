package expr

import (
	"strconv"
	"testing"
)

// TestFitsFloat checks that only significant digits count, not the zeros that place the point.
func TestFitsFloat(t *testing.T) {
	for s, want := range map[string]bool{
		"0": true, "-0.0": true, "0.1000": true, "0.30000000000000004": true, "00120.50": true, "1e22": true, "1.5e-3": true, ".5": true, "5.": true,
		"12345678901234567890.5": false, "0.1000000000000000000001": false, "4503599627370496.3": false, "1e-400": false,
	} {
		f, _ := strconv.ParseFloat(s, 64)
		if FitsFloat(s, f) != want {
			t.Errorf("%s: %v", s, !want)
		}
	}
}
