//go:build unix

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/flowrun/flowrun/internal/test/pagefault"
)

// faults prints a table of the page faults of command lines, the lowest of some runs of each.
func faults(lines []string) error {
	fmt.Printf("%7s %7s %9s %6s %6s %9s  %s\n", "faults", "text", "read-only", "data", "heap", "mappings", "command")
	for _, line := range lines {
		words := strings.Fields(line)
		if len(words) == 0 {
			return errors.New("a command line is empty")
		}
		var lowest pagefault.Faults
		for range 15 {
			f, err := pagefault.Count(exec.Command(words[0], words[1:]...))
			if err != nil {
				return fmt.Errorf("cannot count the page faults of %q: %w", line, err)
			}
			if lowest.Total() == 0 || f.Total() < lowest.Total() {
				lowest = f
			}
		}
		fmt.Printf("%7d %7d %9d %6d %6d %9d  %s\n", lowest.Total(), lowest.Text, lowest.ReadOnly, lowest.Data, lowest.Heap, lowest.Mappings, line)
	}
	return nil
}
