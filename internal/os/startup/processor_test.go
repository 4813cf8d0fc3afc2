package startup

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestOneProcessor: a program has one processor, unless GOMAXPROCS says otherwise.
func TestOneProcessor(t *testing.T) {
	if os.Getenv("COUNT") != "" {
		os.Stdout.WriteString(strings.Repeat("I", runtime.GOMAXPROCS(0)) + "\n")
		os.Exit(0)
	}
	for set, want := range map[string]string{"": "I", "1": "I", "3": "III"} {
		c := exec.Command(os.Args[0], "-test.run=^TestOneProcessor$")
		c.Env = append(os.Environ(), "COUNT=1", "GOMAXPROCS="+set)
		if out, err := c.Output(); err != nil || string(out) != want+"\n" {
			t.Errorf("GOMAXPROCS=%s: %q, %v, want %q", set, out, err, want)
		}
	}
}
