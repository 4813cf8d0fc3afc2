package enginetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/tool"
)

// TestSchedules: what cannot be followed is told when the tool is compiled, each problem
// at its place inside the text.
func TestSchedules(t *testing.T) {
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
			if err := os.WriteFile(file, []byte(head+c.schedule+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := flowrun.Compile(tool.NewLibrary(tool.Config{}), file)
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
		p, err := flowrun.Compile(tool.NewLibrary(tool.Config{}), filepath.Join(dir, name+".yaml"))
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
