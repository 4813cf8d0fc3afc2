package valuetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/timetable"
	"github.com/flowrun/flowrun/internal/service/tooltest"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// entryPoints pass a value to a tool, and return what it got, or why nothing ran.
var entryPoints = map[string]func(cell) (any, error){
	"default": func(c cell) (any, error) {
		return c.run(head + "parameters: {V: {type: " + c.typ + ", allow-dash: true, default: " + c.inFlow() + "}}\n" + c.pass("{V}"))
	},
	"with": func(c cell) (any, error) {
		return c.run(head + c.step("", "\n      V: "+c.asYAML()))
	},
	"alias": func(c cell) (any, error) {
		return c.run(head + "type: alias\nbase-tool: take-" + c.typ + "\ndefault-parameters:\n  V: " + c.asYAML() + "\n")
	},
	"Markdown": func(c cell) (any, error) {
		return c.runFile("t.md", "---\ntool: true\n"+head+"type: chain\n---\n\n```yaml\nsteps:\n  - id: s\n    tool: take-"+c.typ+
			"\n    parameters:\n      V: "+c.asYAML()+"\n```\n")
	},
	"K=V":           func(c cell) (any, error) { return c.commandLine("", "V="+c.written) },
	"K:=JSON":       func(c cell) (any, error) { return c.commandLine("", "V:="+c.asJSON()) },
	"K=@FILE":       func(c cell) (any, error) { return c.commandLine("", "V=@"+c.file("value", c.written)) },
	"--params YAML": func(c cell) (any, error) { return c.commandLine(c.file("p.yaml", "V: "+c.asYAML()+"\n")) },
	"--params JSON": func(c cell) (any, error) { return c.commandLine(c.file("p.json", `{"V": `+c.asJSON()+"}")) },
	"test": func(c cell) (any, error) {
		return c.toolTest(c.parameter() + c.pass("{V}") + "tests:\n  - name: one\n    expected: {exit-code: 0}\n    parameters:\n      V: " +
			c.asYAML() + "\n")
	},
	"schedule": func(c cell) (any, error) {
		return c.timetable("schedule:\n  - cron: '0 0 * * *'\n    params:\n      V: " + c.asYAML() + "\n")
	},
	"backfill": func(c cell) (any, error) {
		c.file(".flowrun/tools/t.yaml", c.parameter()+c.pass("{V}")+"schedule:\n  - cron: '0 0 * * *'\n    params:\n      V: "+c.asYAML()+"\n")
		return c.backfill("t")
	},
	"schedule add": func(c cell) (any, error) {
		p := timetable.AddedSchedule{Cron: "0 0 * * *", Params: map[string]any{"V": c.written}}
		err := c.database().store.Schedules().Add(c.Context(), sqlite.Schedule{ID: "a", Name: "a", Tool: "pass-" + c.typ, Plan: p.String()}, true)
		if err != nil {
			c.Fatal(err)
		}
		return c.firstEntry("pass-" + c.typ)
	},
	"on": func(c cell) (any, error) {
		return c.timetable("on:\n  - file: {path: '*.csv'}\n    params:\n      V: " + c.asYAML() + "\n")
	},
	"for-each": func(c cell) (any, error) {
		return c.run(head + c.step("    for-each:\n      items:\n        - "+c.asYAML()+"\n", "{V: '{item}'}"))
	},
	"for-each of a parameter": func(c cell) (any, error) {
		return c.list([]any{c.written})
	},
	"list as text": func(c cell) (any, error) {
		return c.list("[" + c.asJSON() + "]")
	},
	"matrix": func(c cell) (any, error) {
		return c.run(head + c.step("    matrix:\n      v:\n        - "+c.asYAML()+"\n", "{V: '{matrix.v}'}"))
	},
	"HTTP API": func(c cell) (any, error) {
		return c.request("/api/v1/runs", `{"tool": "pass-`+c.typ+`", "params": {"V": `+c.asJSON()+"}}")
	},
	"run --detach": func(c cell) (any, error) { // as runs/detach.go
		b, err := json.Marshal(map[string]any{"tool": "pass-" + c.typ, "params": rawtext.EncodeMap(map[string]any{"V": c.written})})
		if err != nil {
			c.Fatal(err)
		}
		return c.request("/api/v1/runs", string(b))
	},
	"webhook field": func(c cell) (any, error) { return c.request("/hooks/field-"+c.typ, `{"v": `+c.asJSON()+"}") },
	"webhook body":  func(c cell) (any, error) { return c.request("/hooks/body-"+c.typ, c.written) },
	"MCP":           func(c cell) (any, error) { return c.callTool(`{"V": ` + c.asJSON() + "}") },
	"env": func(c cell) (any, error) {
		w := engine.RunEnv{Env: []string{"E=" + c.written}}
		return c.runPlan(c.compile(head+c.pass("{env.E}")), nil, engine.WithRunEnv(w))
	},
	"state": func(c cell) (any, error) {
		return c.run(head + "state: {S: {type: " + c.typ + ", default: " + c.inFlow() + "}}\n" + c.pass("{state.S}"))
	},
}

// inFlow is asYAML for a place in a flow mapping.
func (c cell) inFlow() string {
	if c.plain && !strings.ContainsAny(c.written, `{}[],#`) && len(c.written) < 1000 {
		return c.written
	}
	return c.kind.yaml(false)
}

// list runs a tool whose only step takes each element of a list.
func (c cell) list(list any) (any, error) {
	p := c.compile(head + "parameters: {V: {type: array, allow-dash: true}}\n" + c.step("    for-each: {items: '{V}'}\n", "{V: '{item}'}"))
	return c.runPlan(p, map[string]any{"V": list})
}

// commandLine runs a tool with parameters of the command line.
func (c cell) commandLine(document string, words ...string) (any, error) {
	p := c.compile(c.parameter() + c.pass("{V}"))
	list, err := launch.ParseAssignments(&cobra.Command{}, words)
	if err != nil {
		return nil, err
	}
	given, err := launch.CollectParams(&ui.Env{}, p, engine.RunEnv{}, document, list)
	if err != nil {
		return nil, err
	}
	return c.runPlan(p, given.Values)
}

// toolTest runs the test of a definition.
func (c cell) toolTest(text string) (any, error) {
	p, err := engine.Compile(c.lib, c.file("t.yaml", text))
	if err != nil {
		return nil, err
	}
	one := tooltest.Case{Tool: p.Name(), Plan: p, Test: p.Definition.Tests[0]}
	list, err := tooltest.Run(c.Context(), []tooltest.Case{one}, tooltest.Options{Library: c.lib})
	if err != nil {
		c.Fatal(err)
	}
	select {
	case v := <-c.taken:
		return v, nil
	default:
		return nil, fmt.Errorf("%s %v", list[0].Stderr, list[0].Mismatches)
	}
}

// timetable runs a tool with the parameters of the only entry that its definition adds to the timetable.
func (c cell) timetable(entry string) (any, error) {
	c.file(".flowrun/tools/t.yaml", c.parameter()+c.pass("{V}")+entry)
	return c.firstEntry("t")
}

// firstEntry runs a tool with the parameters of the only entry of the timetable.
func (c cell) firstEntry(name string) (any, error) {
	p, e, err := c.onlyEntry(name)
	if err != nil {
		return nil, err
	}
	return c.runPlan(p, e.Params)
}

// onlyEntry returns a tool and the only entry of the timetable.
func (c cell) onlyEntry(name string) (*engine.Plan, timetable.Entry, error) {
	lib := c.library()
	p, err := engine.Compile(lib, name)
	if err != nil {
		return nil, timetable.Entry{}, err
	}
	table, err := timetable.Read(c.Context(), c.database().store.Schedules(), lib)
	if err != nil || len(table.Entries) != 1 {
		c.Fatal(err, table.Problems)
	}
	return p, table.Entries[0], nil
}

// backfill runs a tool for one past time of its schedule.
func (c cell) backfill(name string) (got any, err error) {
	p, e, err := c.onlyEntry(name)
	if err != nil {
		return nil, err
	}
	b := timetable.Backfill{Firings: c.database().store.Firings(), Entry: e, Report: func(service.BackfillTime) {},
		Execute: func(_ context.Context, _ string, params map[string]any) (string, error) {
			got, err = c.runPlan(p, params)
			return "succeeded", nil
		}}
	if failed := b.Run(c.Context(), []service.BackfillTime{{At: time.Now()}}); failed != nil {
		c.Fatal(failed)
	}
	return got, err
}
