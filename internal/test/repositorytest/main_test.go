// Package repositorytest holds the rules of the repository as a whole: which folder may import which, what the public packages
// promise, that pages and requirements name what exists, and the words they use. Its tests read the source.
package repositorytest

import (
	"log"
	"os"
	"testing"
)

// TestMain runs the tests in the folder that holds the repository: all paths in them begin there.
func TestMain(m *testing.M) {
	if err := os.Chdir("../../.."); err != nil {
		log.Fatal(err)
	}
	m.Run()
}
