//go:build unix && !race

package cli_test

import (
	"fmt"
	"os"
	"testing"

	_ "github.com/flowrun/flowrun/internal/service/web" // the program consists of it
	"github.com/flowrun/flowrun/internal/test/programtest"
)

// mainWithProgram runs the tests with the flowrun program first on PATH.
func mainWithProgram(m *testing.M) int {
	dir, err := os.MkdirTemp("", "flowrun-cli")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if _, err := programtest.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return m.Run()
}
