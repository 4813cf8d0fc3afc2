package dag

import "testing"

// TestPollInside: a node that is retried because a poll inside it gave up uses up its retries. Such a retry is not
// another round of the node.
func TestPollInside(t *testing.T) {
	poll := step{id: "poll", tries: []string{"ok"}, repeat: &repeatStep{max: 1}}
	g := graphOf(t, []step{{id: "outer", retries: 2, repeat: &repeatStep{max: 2, failures: true}, bind: "ok", inner: []step{poll}}}, Settings{})
	d := newDriver(t, g, 1, func(int) int { return 0 })
	d.run()
	started := 0
	for _, e := range d.log {
		if e.Kind == StepStarted && e.Node == "outer" {
			started++
		}
	}
	if r := d.state.Result(); r.Status != Failed || started != 6 {
		t.Errorf("%v after %d attempts, want 2 rounds of 3 attempts", r.Status, started)
	}
}
