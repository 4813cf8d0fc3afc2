package steps

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// A process that a step left behind must not print into the log of a later step, although unused
// log files are reused.
func TestLatePrinter(t *testing.T) {
	b := open(t, Options{LogDir: t.TempDir(), Grace: time.Second}, nil)
	defer b.close(t)
	dir := t.TempDir()
	sh := func(src string) *Command {
		return &Command{Shell: "sh", Template: b.parse(t, "cd "+dir+"; "+src, expr.Sh)}
	}
	late := sh(`( until [ -e go ]; do sleep 0.01; done; echo late; echo late >&2; : >printed ) & exit 0`)
	nodes := []dag.Node{{ID: "late", Runner: late}}
	for i := range 10 {
		quiet := sh("sleep 0.01")
		if i == 5 { // it prints while this one runs
			quiet = sh("until [ -e printed ]; do : >go; sleep 0.01; done")
		}
		nodes = append(nodes, dag.Node{ID: dag.ID(fmt.Sprint("quiet", i)), Runner: quiet, After: []dag.ID{nodes[i].ID}})
	}
	g, err := dag.New(nodes, dag.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	st, err := dag.Run(context.Background(), g, b, dag.Options{})
	if err != nil || st.Result().Status != dag.Succeeded {
		t.Fatalf("%v, %v", st.Result(), err)
	}
	st.All(func(path dag.ID, _ *dag.Node, _ dag.Status, r *dag.Result) {
		if r.Stdout != nil || r.Stderr != nil {
			t.Errorf("%s printed %+v %+v", path, r.Stdout, r.Stderr)
		}
	})
}
