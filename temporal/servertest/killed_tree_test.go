package servertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// beats is a script that writes its first argument to a file again and again, whatever signals it gets.
const beats = "trap '' TERM HUP\nwhile :; do echo $1 >> $2; sleep 0.1; done\n"

// tree starts beats as a child, in a session of its own, and without parent, session and environment. Its second attempt
// ends.
const tree = `steps:
  - name: a
    on-interrupt: retry
    bash: |
      id=$RANDOM$RANDOM
      cd ` + dirMark + `
      echo $id >> effects
      if [ -e once ]; then sleep 2; exit 0; fi
      touch once
      bash beats.sh $id effects &
      setsid bash beats.sh $id effects &
      (env -i PATH="$PATH" setsid bash beats.sh $id effects &)
      sleep 300
`

// TestKilledTree: a worker is killed, and another machine, which cannot see its processes, runs the step again. All
// processes of the first attempt have ended when the second begins.
func TestKilledTree(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	queue, dir := "tree", t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "beats.sh"), []byte(beats), 0o600); err != nil {
		t.Fatal(err)
	}
	effects := func() []string {
		text, _ := os.ReadFile(filepath.Join(dir, "effects"))
		return strings.Fields(string(text))
	}
	w, r := startWorker(t, s, s.address, queue), newRemote(t, s, queue)
	p, err := r.start(t.Context(), &testCase{name: "tree", text: tree}, dir)
	if err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "some effects", func() bool { return len(effects()) > 10 })
	w.kill()
	startElsewhere(t, s, queue)
	if d := finish(t, r, p); d["status"] != "succeeded" {
		t.Errorf("%v: %v", d["status"], d["message"])
	}
	if attempts := slices.Compact(effects()); len(attempts) != 2 {
		t.Errorf("effects of %d attempts alternate: %v", len(attempts), attempts[:min(len(attempts), 10)])
	}
}

// startElsewhere starts a worker that does not see the processes of this machine, if this user may make such a place.
func startElsewhere(t *testing.T, s *server, queue string) {
	t.Helper()
	place := []string{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"}
	if exec.Command(place[0], append(place[1:], "true")...).Run() != nil {
		startWorker(t, s, s.address, queue)
		return
	}
	startProgramBy(t, place, program(t, "..", "cmd/flowrun-temporal"), s, s.address, queue)
}
