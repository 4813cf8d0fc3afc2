package steps

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// TestFewFiles: runs whose steps have ended hold no files that the steps of other runs need.
func TestFewFiles(t *testing.T) {
	const limit = "96"
	if os.Getenv("STEPS_TEST_FEW_FILES") == "" {
		c := exec.Command("sh", "-c", "ulimit -n "+limit+`; exec "$0" -test.run 'TestFewFiles$'`, os.Args[0])
		c.Env = append(os.Environ(), "STEPS_TEST_FEW_FILES=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	for range 60 {
		b := open(t, Options{LogDir: t.TempDir()}, nil)
		defer b.close(t)
		quiet := &Command{Template: b.parse(t, "true", expr.Argv)}
		g, err := dag.New([]dag.Node{{ID: "a", Runner: quiet}, {ID: "b", Runner: quiet}}, dag.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		st, err := dag.Run(context.Background(), g, b, dag.Options{})
		if err != nil || st.Result().Status != dag.Succeeded {
			t.Fatalf("%+v, %v", st.Result(), err)
		}
	}
}
