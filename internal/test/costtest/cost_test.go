package costtest

import (
	"bufio"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "set the bounds to a little above the counts")

const boundsFile = "testdata/bounds.txt"

// rounds is how often something is counted. The lowest count of all rounds is used.
const rounds = 3

// counts are the lowest values that were counted, by name.
type counts map[string]float64

// add records a value.
func (c counts) add(name string, value float64) {
	if old, ok := c[name]; !ok || value < old {
		c[name] = value
	}
}

// check compares the counts with the bounds whose names begin with the group, and prints both.
func check(t *testing.T, group string, got counts) {
	t.Helper()
	bounds := readBounds(t)
	maps.DeleteFunc(bounds, func(name string, _ float64) bool { return !strings.HasPrefix(name, group+": ") })
	named := counts{}
	for name, value := range got {
		named[group+": "+name] = value
	}
	if *update {
		writeBounds(t, group, named)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(bounds)) {
		value, ok := named[name]
		switch bound := bounds[name]; {
		case !ok:
			t.Errorf("%s is not counted; remove its bound from %s", name, boundsFile)
		case value > bound:
			t.Errorf("%10.1f of at most %8.1f  %s: too many", value, bound, name)
		default:
			t.Logf("%10.1f of at most %8.1f  %s", value, bound, name)
		}
		delete(named, name)
	}
	for name, value := range named {
		t.Errorf("%s is %.1f and has no bound in %s; run the test with -update", name, value, boundsFile)
	}
}

// readBounds reads lines of the form "12.5 NAME". Lines that begin with # are comments.
func readBounds(t *testing.T) counts {
	t.Helper()
	f, err := os.Open(boundsFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	bounds := counts{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		var bound float64
		number, name, _ := strings.Cut(line, " ")
		if _, err := fmt.Sscan(number, &bound); err != nil {
			t.Fatalf("%s: cannot read the bound in %q: %v", boundsFile, line, err)
		}
		bounds[strings.TrimSpace(name)] = bound
	}
	return bounds
}

// writeBounds replaces the bounds of a group.
func writeBounds(t *testing.T, group string, named counts) {
	t.Helper()
	bounds := readBounds(t)
	maps.DeleteFunc(bounds, func(name string, _ float64) bool { return strings.HasPrefix(name, group+": ") })
	for name, value := range named {
		bounds[name] = above(name, value)
	}
	var b strings.Builder
	b.WriteString("# What flowrun may use at most. See the package comment; renew with go test -update.\n")
	for _, name := range slices.Sorted(maps.Keys(bounds)) {
		fmt.Fprintf(&b, "%10.1f  %s\n", bounds[name], name)
	}
	if err := os.WriteFile(filepath.FromSlash(boundsFile), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// above returns the bound of a count. Page faults and mapped pages depend on how the kernel keeps the program's file in
// memory, and a busy machine makes the Go runtime start a thread more.
func above(name string, value float64) float64 {
	switch {
	case strings.HasSuffix(name, " threads"):
		return value + 2
	case strings.Contains(name, " pages mapped"), strings.Contains(name, " page faults"):
		return roundUp(1.4 * value)
	}
	return roundUp(1.15 * value)
}

// roundUp rounds to a number of three digits or with one digit after the point.
func roundUp(x float64) float64 {
	unit := max(0.1, math.Pow(10, math.Floor(math.Log10(max(x, 0.1)))-2))
	return math.Ceil(x/unit) * unit
}
