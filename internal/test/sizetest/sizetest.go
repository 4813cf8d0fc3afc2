// Package sizetest is the one switch for how much a test does that could do any amount: random inputs,
// kills, cycles, items, seconds of fuzzing. It has three sizes, one for each loop in which tests run:
//
//	Small   go test ./...   a few fixed cases: what a newcomer and an editor wait for
//	Gate    .ci/run         more fixed cases: what a submission waits for
//	Long    .ci/long        all of them, and random ones
//
// The environment variable FLOWRUN_TESTS chooses: unset, "gate" or "long". A test asks for its number
// with Of, and for the start of its random numbers with Seed; whatever a test proves, it proves in
// each size, for fewer or more cases. What has no small form asks Need.
package sizetest

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// Size is how much tests do.
type Size int

// The sizes, from the smallest.
const (
	Small Size = iota
	Gate
	Long
)

const variable = "FLOWRUN_TESTS"

// Chosen returns the size that FLOWRUN_TESTS names. It panics on a word that names none, because a test
// of another size than the one asked for would prove less than it seems to.
func Chosen() Size {
	switch word := os.Getenv(variable); word {
	case "":
		return Small
	case "gate":
		return Gate
	case "long":
		return Long
	default:
		panic(fmt.Sprintf("%s=%s: want gate, long or nothing", variable, word))
	}
}

// Of returns the value for the chosen size.
func Of[T any](small, gate, long T) T { return [...]T{small, gate, long}[Chosen()] }

// Need skips a test that has no form for a smaller size. why says what the test costs.
func Need(t testing.TB, s Size, why string) {
	t.Helper()
	if Chosen() < s {
		t.Skipf("%s; set %s=%s to run it", why, variable, [...]string{"", "gate", "long"}[s])
	}
}

// SideBySide lets this many tests of a package run at the same time, because tests of processes and servers wait more
// than they work. TestMain of such a package calls it before it runs the tests. The -parallel flag is stronger.
func SideBySide() {
	if err := flag.Set("test.parallel", strconv.Itoa(max(sideBySide, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
}

// sideBySide keeps two processors busy. go test has one test for each processor.
const sideBySide = 8

// Seed returns the start of a test's random numbers, and logs it: always the same one, so that a
// failure repeats, and a new one in each Long run. FLOWRUN_TEST_SEED repeats the one that a Long run logged.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(1)
	if Chosen() == Long {
		seed = uint64(time.Now().UnixNano())
	}
	if text := os.Getenv("FLOWRUN_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("FLOWRUN_TEST_SEED: %v", err)
		}
	}
	t.Logf("seed %d", seed)
	return seed
}
