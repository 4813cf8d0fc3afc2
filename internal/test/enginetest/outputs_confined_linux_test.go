package enginetest

import (
	"context"
	"os"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
)

// Steps with fewer rights can write their outputs, and cannot make flowrun read another file in place of them.
func TestOutputsConfined(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, dir string, w engine.RunEnv, security, body string) *runresult.Result {
		p := compile(t, dir, "description: Writes an output\nsecurity: {"+security+"}\noutputs: {v: string}\n"+body+"\n")
		res, err := engine.New(engine.Config{}).Run(context.Background(), p, nil, engine.WithRunEnv(w))
		if err != nil {
			t.Fatal(err)
		}
		if res.Status != dag.Succeeded || res.Outputs["v"] != "written" {
			t.Errorf("%s: %s %v; %+v", security, res.Status, res.Outputs, res.Steps)
		}
		return res
	}
	const attack = `; ln -sf $PWD/secret $FLOWRUN_OUTPUT 2>/dev/null; mv $PWD/secret $FLOWRUN_OUTPUT 2>/dev/null; rm -f $FLOWRUN_OUTPUT 2>/dev/null; true`
	t.Run("reduced", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("another user is only used by root; run the tests as root")
		}
		dir := openFolder(t)
		run(t, dir, world(dir), "execution-privilege: reduced", `bash: 'echo v=written >> $FLOWRUN_OUTPUT`+attack+`'`)
	})
	t.Run("enforced", func(t *testing.T) {
		dir, w := enforcedFolder(t)
		run(t, dir, w, "enforce: true, required-permissions: []", `sh: 'echo v=written >> $FLOWRUN_OUTPUT`+attack+`'`)
	})
	t.Run("container", func(t *testing.T) {
		p := newPodman(t)
		for _, security := range []string{"", ", enforce: true, required-permissions: []"} {
			dir := t.TempDir()
			w := world(dir)
			w.Env = p.env
			run(t, dir, w, `isolation: container, image: "`+busyboxImage+`"`+security, `sh: 'echo v=written >> $FLOWRUN_OUTPUT`+attack+`'`)
		}
	})
}
