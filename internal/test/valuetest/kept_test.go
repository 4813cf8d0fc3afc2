package valuetest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// kept are the ways on which a value is kept in JSON between being given and being taken.
var kept = map[string]func(cell) (any, error){
	"resume": func(c cell) (any, error) {
		c.failFirst = true
		p := c.compile(c.parameter() + "steps:\n  - {name: a, use-tool: fail}\n" + c.next("{V}"))
		if _, err := c.database().engine.Run(c.Context(), p, map[string]any{"V": c.written}); err != nil {
			return nil, err
		}
		id, err := history.FindRun(c.Context(), c.db.store, history.Latest)
		if err != nil {
			c.Fatal(err)
		}
		recorded, err := engine.LoadRun(c.Context(), c.db.store, c.lib, id)
		if err != nil {
			c.Fatal(err)
		}
		g, err := recorded.Resume(c.lib, engine.ResumeOptions{})
		if err != nil {
			c.Fatal(err)
		}
		return c.took(c.db.engine.Continue(c.Context(), g))
	},
	"cache": func(c cell) (v any, err error) {
		p := c.compile(c.parameter() + "steps:\n  - {name: a, use-tool: ./cached.yaml, with: {V: '{V}'}}\n" + c.next("{a.output}"))
		for range 2 {
			if v, err = c.runPlan(p, map[string]any{"V": c.written}); err != nil {
				return nil, err
			}
		}
		return v, nil
	},
	"step output": func(c cell) (any, error) {
		p := c.compile(c.parameter() + "steps:\n  - {name: a, use-tool: say-" + c.typ + ", with: {V: '{V}'}}\n" + c.next("{a.output}"))
		return c.runPlan(p, map[string]any{"V": c.written})
	},
	"declared output": func(c cell) (any, error) {
		p := c.compile(c.parameter() + "steps:\n  - {name: a, use-tool: return-" + c.typ + ", with: {V: '{V}'}}\n" + c.next("{a.outputs.x}"))
		return c.runPlan(p, map[string]any{"V": c.written})
	},
	"run -o json": func(c cell) (any, error) {
		p := c.compile(c.parameter() + c.pass("{V}"))
		res, err := c.engine.Run(c.Context(), p, map[string]any{"V": c.written})
		if err != nil {
			return nil, err
		}
		<-c.taken
		b, err := json.Marshal(res)
		if err != nil {
			c.Fatal(err)
		}
		var doc struct{ Params map[string]any }
		err = value.DecodeJSON(string(b), &doc)
		return rawtext.DecodeMap(doc.Params)["V"], err
	},
	"command": func(c cell) (any, error) {
		return c.command(c.parameter()+"bash: printf %s {V} > out\n", engine.RunEnv{}, map[string]any{"V": c.written})
	},
	"env-files": func(c cell) (any, error) {
		escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "\r", `\r`)
		c.file("vars", `E="`+escape.Replace(c.written)+"\"\r\n")
		return c.command(head+"env-files: [vars]\nbash: printf %s \"$E\" > out\n", engine.RunEnv{}, nil)
	},
}

// command runs a command that writes the value to the file out.
func (c cell) command(text string, w engine.RunEnv, params map[string]any) (any, error) {
	w.Workspace = c.dir
	res, err := c.engine.Run(c.Context(), c.compile(text), params, engine.WithRunEnv(w))
	if err != nil {
		return nil, err
	}
	if res.ExitCode != 0 {
		return nil, &failure{res.Message}
	}
	b, err := os.ReadFile(c.dir + "/out")
	return string(b), err
}

// took returns what a run passed on.
func (c cell) took(res *runresult.Result, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	select {
	case v := <-c.taken:
		return v, nil
	default:
		text := res.Message
		for i := range res.Steps {
			text += "; " + res.Steps[i].Message
		}
		return nil, &failure{text}
	}
}

// goTools are the tools of the test, for a type of V.
func (b *bench) goTools(typ string) []gostep.GoTool {
	v := []*tool.Parameter{{Name: "V", Type: typ, AllowDash: true}}
	return []gostep.GoTool{
		{Name: "take-" + typ, Description: "Takes a value", Parameters: v, Run: func(_ context.Context, in *gostep.StepInput) (any, error) {
			b.taken <- in.Params["V"]
			return nil, nil
		}},
		{Name: "say-" + typ, Description: "Prints a value", Parameters: v, Run: func(_ context.Context, in *gostep.StepInput) (any, error) {
			return value.Plain(in.Params["V"]), nil
		}},
		{Name: "return-" + typ, Description: "Returns a value", Parameters: v, Outputs: []*tool.DeclaredOutput{{Name: "x", Type: typ}},
			Run: func(_ context.Context, in *gostep.StepInput) (any, error) {
				return map[string]any{"x": in.Params["V"]}, nil
			}},
	}
}

// failTool fails once.
func (b *bench) failTool() gostep.GoTool {
	return gostep.GoTool{Name: "fail", Description: "Fails once", Run: func(context.Context, *gostep.StepInput) (any, error) {
		if b.failFirst {
			b.failFirst = false
			return nil, errors.New("once")
		}
		return nil, nil
	}}
}
