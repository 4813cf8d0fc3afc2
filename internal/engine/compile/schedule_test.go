package compile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// TestSchedules: what cannot be followed is reported when the tool is compiled, each problem
// at its place inside the text.
func TestSchedules(t *testing.T) {
	t.Parallel()
	const head = "name: t\ndescription: d\nbash: echo {A} {N} {T}\nenvironment: {secrets: [T]}\nparameters:\n" +
		"  A: {description: a, required: true}\n  N: {description: n, type: number, default: 1}\n  T: {description: t, default: \"\"}\nschedule:\n"
	for name, c := range map[string]struct {
		schedule string
		want     []string
	}{
		"good": {`  - {cron: "0 7 * * 1-5", timezone: Europe/Zurich, params: {A: 1.10}, start: 2026-12-01, end: 2027-01-01T00:00:00Z}
  - {every: 90s, params: {A: x, N: "5"}, overlap: queue, catch-up: {mode: all, window: 6h, max: 20}, jitter: 30s, skip-if-successful: true}`, nil},
		"hour":          {`  - {cron: "0 25 * * FOO", params: {A: x}}`, []string{"10:15 bad-schedule", "10:22 bad-schedule"}},
		"escaped":       {`  - {cron: "0\t25 * * *", params: {A: x}}`, []string{"10:16 bad-schedule"}},
		"never":         {`  - {cron: "0 0 30 2 *", params: {A: x}}`, []string{"10:17 bad-schedule"}},
		"zone":          {`  - {cron: "0 7 * * *", timezone: Mars/Phobos, params: {A: x}}`, []string{"10:35 bad-schedule"}},
		"two zones":     {`  - {cron: "TZ=UTC 0 7 * * *", timezone: UTC, params: {A: x}}`, []string{"10:42 bad-schedule"}},
		"ends first":    {`  - {every: 5m, params: {A: x}, start: 2026-12-01, end: 2026-12-01}`, []string{"10:57 bad-schedule"}},
		"no moment":     {`  - {every: 5m, params: {A: x}, start: tomorrow}`, []string{"10:40 bad-schedule"}},
		"half a second": {`  - {every: 1500ms, params: {A: x}}`, []string{"10:13 bad-schedule"}},
		"missing":       {`  - 0 7 * * *`, []string{"10:5 missing-parameter"}},
		"unknown":       {`  - {every: 5m, params: {A: x, M: 1}}`, []string{"10:32 unknown-parameter"}},
		"refused":       {`  - {every: 5m, params: {A: x, N: abc}}`, []string{"10:35 bad-argument"}},
		"secret":        {`  - {every: 5m, params: {A: x, T: hunter2}}`, []string{"10:32 bad-schedule"}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "t.yaml")
			if err := os.WriteFile(file, []byte(head+c.schedule+"\nidempotent: true\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := compile.Tool(library.New(library.Config{}), "", file)
			var got []string
			ds, _ := err.(tool.Diagnostics)
			for _, d := range ds {
				got = append(got, fmt.Sprintf("%d:%d %s", d.Pos.Line, d.Pos.Col, d.Code))
				if strings.Contains(d.Message+d.Hint, "hunter2") {
					t.Error("a secret is shown:", d)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s\n%v", diff, err)
			}
			if err != nil && ds == nil {
				t.Error(err)
			}
		})
	}
}

// TestAliasSchedule: an alias runs when it says so itself, not when its base tool does,
// and what it gives satisfies the schedule.
func TestAliasSchedule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"base.yaml":  "name: base\ndescription: d\nbash: echo {A}\nparameters:\n  A: {description: a, required: true}\nschedule: {cron: '0 7 * * *', params: {A: x}}\n",
		"alias.yaml": "name: alias\ndescription: d\ntype: alias\nbase-tool: ./base.yaml\ndefault-parameters: {A: y}\nschedule: '@daily'\n",
		"plain.yaml": "name: plain\ndescription: d\ntype: alias\nbase-tool: ./base.yaml\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"base": "0 7 * * *", "alias": "@daily", "plain": ""} {
		p, err := compile.Tool(library.New(library.Config{}), "", filepath.Join(dir, name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range p.Definition.Schedules {
			got += s.Cron.S
		}
		if got != want {
			t.Errorf("%s runs at %q, want %q", name, got, want)
		}
	}
}

// TestTriggers: entries of on that cannot work are reported when the tool is compiled.
func TestTriggers(t *testing.T) {
	t.Parallel()
	const head = "name: t\ndescription: d\nbash: echo {A} {N} {T}\nenvironment: {secrets: [T]}\nparameters:\n" +
		"  A: {description: a, required: true}\n  N: {description: n, type: number, default: 1}\n  T: {description: t, default: \"\"}\non:\n"
	for name, c := range map[string]struct {
		on   string
		want []string
	}{
		"good":      {`  - {file: {path: "in/**/*.csv"}, params: {A: "{trigger.path}", N: "{trigger.name}"}}` + "\n" + `  - {after: {tool: up, status: any}, params: {A: x, N: "5"}}`, nil},
		"pattern":   {`  - {file: {path: "in/["}, params: {A: x}}`, []string{"10:20 bad-trigger"}},
		"home":      {`  - {file: {path: ~/in}, params: {A: x}}`, []string{"10:19 bad-trigger"}},
		"braces":    {`  - {file: {path: "{HOME}/in/{a,b}.csv"}, params: {A: x}}`, []string{"10:20 bad-trigger"}},
		"missing":   {`  - {file: {path: in}}`, []string{"10:5 missing-parameter"}},
		"unknown":   {`  - {file: {path: in}, params: {A: x, M: 1}}`, []string{"10:39 unknown-parameter"}},
		"refused":   {`  - {file: {path: in}, params: {A: x, N: abc}}`, []string{"10:42 bad-argument"}},
		"secret":    {`  - {file: {path: in}, params: {A: x, T: hunter2}}`, []string{"10:39 bad-trigger"}},
		"no tool":   {`  - {after: {tool: nope}, params: {A: x}}`, []string{"10:20 unknown-tool"}},
		"itself":    {`  - {after: {tool: t}, params: {A: x}}`, []string{"10:20 bad-trigger"}},
		"cycle":     {`  - {after: {tool: second}, params: {A: x}}`, []string{"10:20 bad-trigger"}},
		"elsewhere": {`  - {after: {tool: loop}, params: {A: x}}`, nil}, // its own cycle is reported where it is
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{
				"t.yaml":      head + c.on + "\nidempotent: true\n",
				"up.yaml":     "name: up\ndescription: d\nbash: echo\n",
				"first.yaml":  "name: first\ndescription: d\nbash: echo\non:\n  - after: {tool: t}\n",
				"second.yaml": "name: second\ndescription: d\nbash: echo\non:\n  - after: {tool: first}\n",
				"loop.yaml":   "name: loop\ndescription: d\nbash: echo\non:\n  - after: {tool: loop}\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := compile.Tool(library.New(library.Config{}), "", filepath.Join(dir, "t.yaml"))
			var got []string
			ds, _ := err.(tool.Diagnostics)
			for _, d := range ds {
				got = append(got, fmt.Sprintf("%d:%d %s", d.Pos.Line, d.Pos.Col, d.Code))
				if strings.Contains(d.Message+d.Hint, "hunter2") {
					t.Error("a secret is shown:", d)
				}
				if name == "cycle" && !strings.Contains(d.Message, "t -> first -> second -> t") {
					t.Error("the cycle is not shown in its order:", d.Message)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s\n%v", diff, err)
			}
		})
	}
}
