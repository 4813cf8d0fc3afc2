package enginetest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/library"
)

// TestSyncOrdersExample copies an export that grows, also after a run that has failed.
func TestSyncOrdersExample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := history.NewMemory()
	file, err := filepath.Abs("examples/sync-orders.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := engine.Compile(library.New(library.Config{WorkingDirectory: dir, Home: dir}), file)
	if err != nil {
		t.Fatal(err)
	}
	run := func(export string, want dag.Status, output, state string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "orders.csv"), []byte("id,customer,cents\n"+export), 0o600); err != nil {
			t.Fatal(err)
		}
		res, err := engine.New(engine.Config{Store: store}).Run(context.Background(), p, map[string]any{"EXPORT": "orders.csv", "INTO": "accounting"},
			engine.WithRunEnv(engine.RunEnv{Workspace: dir, Home: dir, Temp: dir}))
		if err != nil || res.Status != want || strings.TrimSpace(res.Output) != output {
			t.Fatalf("%v, %s: %q, %s", err, res.Status, res.Output, res.Message)
		}
		values, err := store.State(context.Background(), p.StateID())
		var got []string
		for _, v := range values {
			got = append(got, v.Key+"="+string(v.Value))
		}
		if strings.Join(got, " ") != state {
			t.Errorf("the state is %v, want %s (%v)", got, state, err)
		}
	}
	run("1,Ada,1250\n2,Grace,300\n", dag.Succeeded, "2 new orders after order 0", "CENTS=1550 LAST_ID=2")
	run("1,Ada,1250\n2,Grace,300\n", dag.Succeeded, "0 new orders after order 2", "CENTS=1550 LAST_ID=2")
	run("1,Ada,1250\n2,Grace,300\n3,O'Hara $(touch bad),12\n4,Edsger,many\n", dag.Failed, "", "CENTS=1550 LAST_ID=2")
	run("1,Ada,1250\n2,Grace,300\n3,O'Hara $(touch bad),12\n4,Edsger,990\n", dag.Succeeded, "2 new orders after order 2", "CENTS=2552 LAST_ID=4")
	b, err := os.ReadFile(filepath.Join(dir, "accounting", "orders-after-2.csv"))
	if err != nil || string(b) != "3,O'Hara $(touch bad),12\n4,Edsger,990\n" {
		t.Errorf("%q, %v", b, err)
	}
}
