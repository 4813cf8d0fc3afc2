package proptest_test

import (
	"flag"
	"testing"

	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/test/proptest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// The values are the same ones each time, and as many as were asked for.
func TestCheck(t *testing.T) {
	if sizetest.Chosen() == sizetest.Long || flag.Lookup("rapid.seed").Value.String() != "1" {
		t.Skip("this run draws other values")
	}
	proptest.Checks(t, 3, 3, 3)
	var drawn [2][]int
	for i := range drawn {
		proptest.Check(t, func(t *rapid.T) { drawn[i] = append(drawn[i], rapid.Int().Draw(t, "n")) })
	}
	if len(drawn[0]) < 3 || drawn[0][0] != drawn[1][0] || drawn[0][len(drawn[0])-1] != drawn[1][len(drawn[1])-1] {
		t.Errorf("drawn: %v", drawn)
	}
}
