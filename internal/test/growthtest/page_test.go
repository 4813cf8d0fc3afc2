package growthtest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the line of the page again")

const (
	page  = "../../../docs/explanation/performance.md"
	begin = "| a definition of four times as many units: "
)

// TestPage: the page about performance says what the table holds.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	if !found {
		t.Fatalf("%s has no line that begins with %q", page, begin)
	}
	_, after, _ := strings.Cut(rest, "\n")
	want := before + line() + "\n" + after
	switch {
	case want == string(text):
	case *update:
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s does not say what is tested; run the test with -update", page)
	}
}

// line returns what the table holds.
func line() string {
	var names []string
	for _, s := range shapes {
		names = append(names, s.name)
	}
	return begin + strings.Join(names, ", ") + fmt.Sprintf(" | at most %.1f times the allocations and the processor time, and %d KB of memory a unit, in each of %d commands |", most, mostMemory, len(commands))
}
