package procid

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/needtest"
)

// seen is what a process says about itself and about another one.
type seen struct {
	Self   Identity
	Other  string // Liveness of the process that started it
	Uptime time.Duration
}

// What a lease says must be the same in all time namespaces, because they share the history. Start times are not, so
// processes of two time namespaces cannot observe each other.
func TestTimeNamespaces(t *testing.T) {
	const variable = "PROCID_TEST_OTHER"
	if text := os.Getenv(variable); text != "" {
		var other Identity
		if err := json.Unmarshal([]byte(text), &other); err != nil {
			t.Fatal(err)
		}
		_ = json.NewEncoder(os.Stderr).Encode(seen{Self(), other.State().String(), Uptime()})
		os.Exit(0)
	}
	unshare := needtest.Program(t, "unshare")
	me, _ := json.Marshal(Self())
	for _, offset := range []string{"-100", "864000"} {
		c := exec.Command(unshare, "-U", "-r", "-T", "-f", "--boottime", offset, os.Args[0], "-test.run", "TestTimeNamespaces")
		c.Env = append(os.Environ(), variable+"="+string(me))
		pipe, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		var there seen
		if err := json.NewDecoder(pipe).Decode(&there); err != nil || c.Wait() != nil {
			needtest.Missing(t, "no time namespace with another boot time: %v", err)
		}
		if there.Other != "unknown" || there.Self.State() != Unknown {
			t.Errorf("%s: there this process is %s, here that one is %v", offset, there.Other, there.Self.State())
		}
		if off := Uptime() - there.Uptime; off < 0 || off > 30*time.Second {
			t.Errorf("%s: the uptime there is %v less", offset, off)
		}
	}
}
