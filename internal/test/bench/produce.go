//go:build unix

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// produce implements the step with much output: "produce BYTES" prints lines of 64 bytes. Each
// write has 64 KiB, the capacity of a pipe.
func produce(args []string) error {
	left, err := strconv.Atoi(strings.Join(args, " "))
	if err != nil {
		return fmt.Errorf("cannot produce: want a number of bytes: %w", err)
	}
	block := []byte(strings.Repeat(strings.Repeat("0123456789abcde", 4)+"...\n", 1024))
	for left > 0 {
		n, err := os.Stdout.Write(block[:min(left, len(block))])
		if err != nil {
			return fmt.Errorf("cannot produce: %w", err)
		}
		left -= n
	}
	return nil
}
