// Package proptest runs property tests: a property is tried with many values that package rapid draws. As in package sizetest,
// the values are always the same ones, so that a change is what makes a test fail, and new ones in each Long run.
package proptest

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// The flag of the command line is parsed later and is stronger.
func init() {
	if sizetest.Chosen() < sizetest.Long {
		if err := flag.Set("rapid.seed", "1"); err != nil {
			panic(err)
		}
	}
}

// Check tries a property. A failure says how to repeat it.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	rapid.Check(t, property)
}

// Checks sets how many cases Check tries until the test ends, unless the command line says how many. The test must not
// be parallel.
func Checks(t testing.TB, small, gate, long int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if was := checks.Value.String(); was == checks.DefValue {
		t.Cleanup(func() { checks.Value.Set(was) })
		checks.Value.Set(strconv.Itoa(sizetest.Of(small, gate, long)))
	}
}
