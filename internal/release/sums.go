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
	sortByName(files)
	for _, file := range files {
		sum, err := sha256Of(file)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s  %s\n", sum, filepath.Base(file)); err != nil {
			return err
		}
	}
	return nil
}

func sortByName(files []string) {
	slices.SortFunc(files, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
}

// sha256Of returns the checksum of a file in hexadecimal.
func sha256Of(file string) (string, error) {
	content, err := os.ReadFile(file)
	return fmt.Sprintf("%x", sha256.Sum256(content)), err
}
