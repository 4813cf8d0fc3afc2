package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// writeSums writes one line for each file, sorted by name, in the format of sha256sum.
func writeSums(w io.Writer, files []string) error {
	slices.SortFunc(files, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%x  %s\n", sha256.Sum256(content), filepath.Base(file)); err != nil {
			return err
		}
	}
	return nil
}
