package compile_test

import (
	"strings"
	"testing"
)

// TestBadPools: what is wrong with pool, priority and locks of steps is reported before anything runs, with its place.
func TestBadPools(t *testing.T) {
	t.Parallel()
	step := func(keys string) string { return "steps:\n  - {name: a, run: echo, " + keys + "}" }
	testWrong(t, map[string]string{"other": "run: echo", "locked": "locks: [db]\nrun: echo"}, map[string]wrong{
		"an empty name":           {step(`pool: ""`), []string{"4:33 bad-name"}, "name of a pool"},
		"a name with spaces":      {step(`pool: a b`), []string{"4:32 bad-name"}, "use up to 128 letters"},
		"a path":                  {step(`pool: ../x`), []string{"4:32 bad-name"}, "name of a pool"},
		"a placeholder":           {step(`pool: "{GPU}"`), []string{"4:33 bad-name"}, "placeholders are not allowed"},
		"a long name":             {step(`pool: ` + strings.Repeat("p", 129)), []string{"4:32 bad-name"}, "up to 128"},
		"a list":                  {step(`pool: [gpu]`), []string{"4:32 wrong-type"}, "found a list"},
		"no name":                 {step(`pool: {slots: 2}`), []string{"4:32 no-name"}, "write only the name"},
		"no slots":                {step(`pool: {name: gpu, slots: 0}`), []string{"4:51 out-of-range"}, "from 1"},
		"fewer than none":         {step(`pool: {name: gpu, slots: -1}`), []string{"4:51 out-of-range"}, "from 1"},
		"slots that are a word":   {step(`pool: {name: gpu, slots: two}`), []string{"4:51 wrong-type"}, "whole number"},
		"half a slot":             {step(`pool: {name: gpu, slots: 0.5}`), []string{"4:51 wrong-type"}, "whole number"},
		"a rate":                  {step(`pool: {name: gpu, rate: 10/m}`), []string{"4:44 unknown-key"}, "rate"},
		"a misspelt key":          {step(`pool: {nam: gpu}`), []string{"4:32 no-name", "4:33 unknown-key"}, `did you mean "name"?`},
		"pools":                   {step(`pools: gpu`), []string{"4:26 unknown-key"}, `did you mean "pool"?`},
		"two pools":               {step(`pool: a, pool: b`), []string{"4:35 duplicate-key"}, "pool"},
		"a priority alone":        {step(`priority: 5`), []string{"4:26 no-effect"}, "without pool or locks"},
		"a word for priority":     {step(`pool: gpu, priority: high`), []string{"4:47 wrong-type"}, "whole number"},
		"too high a priority":     {step(`pool: gpu, priority: 1001`), []string{"4:47 out-of-range"}, "from -1000 to 1000"},
		"too low a priority":      {step(`pool: gpu, priority: -1001`), []string{"4:47 out-of-range"}, "from -1000 to 1000"},
		"on a wait":               {"steps:\n  - {name: a, pool: gpu, wait: {for: 1s}}", []string{"4:21 no-effect"}, "a step that waits"},
		"on a question":           {"steps:\n  - {name: a, pool: gpu, approve: Go}", []string{"4:21 no-effect"}, "a step that waits"},
		"on a group":              {"steps:\n  - {name: a, pool: gpu, steps: [{name: b, run: echo}]}", []string{"4:21 no-effect"}, "add it to the steps that do the work"},
		"on a nested tool":        {"steps:\n  - {name: a, pool: gpu, use-tool: ./other.yaml}", []string{"4:21 no-effect"}, "only a step that works itself"},
		"on a tool with steps":    {"pool: gpu\nsteps:\n  - {name: a, run: echo}", []string{"3:1 no-effect"}, "add it to the steps"},
		"priority of a tool":      {"priority: 3\nsteps:\n  - {name: a, run: echo}", []string{"3:1 no-effect"}, "add it to the steps"},
		"a lock on a group":       {"steps:\n  - {name: a, locks: [db], steps: [{name: b, run: echo}]}", []string{"4:23 no-effect"}, "locks has no effect"},
		"a lock on a wait":        {"steps:\n  - {name: a, locks: [db], wait: {for: 1s}}", []string{"4:23 no-effect"}, "a step that waits"},
		"a lock without a name":   {step(`locks: [{slots: 2}]`), []string{"4:34 no-name"}, "the lock has no name"},
		"locks of tool and step":  {"locks: [db]\n" + step(`locks: [files]`), []string{"5:34 two-lock-levels"}, "all of them on steps"},
		"locks in a group":        {"locks: [db]\nsteps:\n  - {name: g, steps: [{name: b, run: echo, locks: [files]}]}", []string{"5:52 two-lock-levels"}, "the lock db"},
		"locks of a tool it uses": {step(`locks: [files]`) + "\n  - {name: b, use-tool: ./locked.yaml}", []string{"4:34 two-lock-levels"}, "the lock db"},
	})
}
