package call

import (
	"errors"
	"testing"
)

// TestSecretCache: a source is asked until it gives a secret, and not again.
func TestSecretCache(t *testing.T) {
	var w secretCache
	asked := 0
	ask := func() (string, error) {
		if asked++; asked < 3 {
			return "half", errors.New("not yet")
		}
		return "whole", nil
	}
	for n, want := range []string{"", "", "whole", "whole"} {
		v, err := w.once("a", ask)
		if (err != nil) != (want == "") || err == nil && v != want {
			t.Errorf("call %d: %q, %v", n+1, v, err)
		}
	}
	if v, err := w.once("b", func() (string, error) { return "other", nil }); v != "other" || err != nil {
		t.Errorf("another source: %q, %v", v, err)
	}
	if asked != 3 {
		t.Errorf("asked %d times", asked)
	}
}
