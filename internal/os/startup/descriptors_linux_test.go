package startup

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestFewFiles: with a limit on open files under which the Go runtime may not begin, the program says so and ends,
// however many files it has inherited.
func TestFewFiles(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[string]string{"8": "the limit on open files is 8, and flowrun needs at least 16", "15": "is 15", "16": ""} {
		c := exec.Command("sh", "-c", `exec 5</dev/null; ulimit -n "$0" && exec "$@"`, limit, self, "-test.run", "^$")
		var said strings.Builder
		c.Stderr = &said
		c.Run()
		if code := c.ProcessState.ExitCode(); (code == 1) != (want != "") || !strings.Contains(said.String(), want) {
			t.Errorf("with %s files it exits with %d: %s", limit, code, said.String())
		}
	}
}
