package ui_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"

	"github.com/flowrun/flowrun/internal/test/sizetest"
)

//go:embed testdata/hub_world.js
var hubWorld string

// TestHub: whatever happens to connections, tabs and the service, a tab that follows a run gets each of its events once, in
// order, and its end; a tab that follows all runs gets those after the state that it has read, or is told to read it again; and there is never more than
// one stream, which is gone when nobody follows anything. testdata/hub_world.js plays the service, the browser and the tabs.
func TestHub(t *testing.T) {
	t.Parallel()
	world := newHubWorld(t)
	for seed := range sizetest.Of(50, 200, 5000) {
		call, pass := world(seed)
		for range 60 {
			pass("step()")
		}
		pass("settle()")
		var wrong []string
		if err := json.Unmarshal([]byte(call("JSON.stringify(wrong())")), &wrong); err != nil {
			t.Fatal(err)
		}
		for _, w := range wrong {
			t.Errorf("seed %d: %s", seed, w)
		}
		if t.Failed() {
			t.Log(call("log.join('\\n')"))
			return
		}
	}
}

// TestHubLateEnd: the end of a run can be in the stream before it is recorded. Whoever follows the run has it soon after
// that.
func TestHubLateEnd(t *testing.T) {
	t.Parallel()
	call, pass := newHubWorld(t)(1)
	pass("follow(tabs[0], 'a'); happen(runs.a, 'run.started'); target = now + 5000")
	pass("endLate()")
	if got := call("tabs[0].end + ' ' + tabs[0].got.map((e) => e.kind)"); got != "succeeded run.started,run.finished" {
		t.Errorf("after three seconds the tab has: %s", got)
	}
}

// newHubWorld returns what begins a world with a number for its chances. call evaluates JavaScript in it; pass does, and
// lets the time go on.
func newHubWorld(t *testing.T) func(seed int) (call func(js string) string, pass func(what string)) {
	t.Helper()
	built := api.Build(api.BuildOptions{EntryPoints: []string{"src/hub.ts"}, Bundle: true, Format: api.FormatIIFE, GlobalName: "hub", Target: api.ES2017})
	if len(built.Errors) > 0 {
		t.Fatal(built.Errors)
	}
	hub, err := goja.Compile("hub.js", string(built.OutputFiles[0].Contents), false)
	if err != nil {
		t.Fatal(err)
	}
	world := goja.MustCompile("hub_world.js", hubWorld, false)
	return func(seed int) (func(string) string, func(string)) {
		vm := goja.New()
		if _, err := vm.RunProgram(world); err != nil {
			t.Fatal(err)
		}
		if _, err := vm.RunProgram(hub); err != nil {
			t.Fatal(err)
		}
		call := func(js string) string {
			v, err := vm.RunString(js)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			return v.String()
		}
		pass := func(what string) { // each timer in a call of its own, for promises go on between calls
			call(what)
			for call("turn()") == "true" {
			}
		}
		call(fmt.Sprintf("begin(%d)", seed))
		return call, pass
	}
}
