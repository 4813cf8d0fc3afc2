package version

import "testing"

// TestVersionOrder goes up the order that semantic versioning gives as its example.
func TestVersionOrder(t *testing.T) {
	order := []string{"0.9.9", "1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0"}
	for i, a := range order {
		for j, b := range order {
			x, _, okX := Parse(a)
			y, _, okY := Parse(b)
			want := 0
			switch {
			case i < j:
				want = -1
			case i > j:
				want = 1
			}
			if got := x.Compare(y); !okX || !okY || got != want {
				t.Errorf("%s and %s: got %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestParse(t *testing.T) {
	for s, want := range map[string]struct {
		v         Version
		exact, ok bool
	}{
		"1.2.3":             {Version{1, 2, 3, ""}, true, true},
		"1.2.3-beta.1+b.5":  {Version{1, 2, 3, "beta.1"}, true, true},
		"1.2.3+b-5":         {Version{1, 2, 3, ""}, true, true},
		"1.2":               {Version{1, 2, 0, ""}, false, true},
		"1":                 {Version{1, 0, 0, ""}, false, true},
		"v1.2.3":            {Version{1, 2, 3, ""}, false, true},
		"01.2.3":            {Version{1, 2, 3, ""}, false, true},
		"":                  {},
		"one":               {},
		"1.2.3.4":           {},
		"1.2.3-":            {},
		"1.2.3-01":          {},
		"1.2.x":             {},
		" 1.2.3":            {},
		"1.2.9999999999999": {},
	} {
		v, exact, ok := Parse(s)
		if v != want.v || exact != want.exact || ok != want.ok {
			t.Errorf("%q: got %v %v %v", s, v, exact, ok)
		}
	}
}
