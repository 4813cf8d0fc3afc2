package devicename

import "testing"

func TestIs(t *testing.T) {
	for name, want := range map[string]bool{"nul": true, "NUL": true, "con.txt": true, "Prn.": true, "aux": true, "com1": true, "LPT9.out": true,
		"": false, "nul1": false, "null": false, "com": false, "com10": false, "a.nul": false, "console": false} {
		if got := Is(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
