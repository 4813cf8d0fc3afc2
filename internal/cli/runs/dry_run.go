package runs

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/engine/script"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// dryRun prints what a run would do, without starting anything.
func dryRun(env *ui.Env, r *request, f runFlags) error {
	v, err := r.preview(launch.Enforcement(f.Settings))
	if v == nil || err != nil && len(v.MissingSecrets) == 0 {
		return err
	}
	if bad := r.plan.PoolError(f.Settings.Pools()); bad != nil {
		for i := range v.Steps {
			if v.Steps[i].ID == bad.Step && v.Steps[i].Problem == "" {
				v.Steps[i].Problem = bad.Error()
			}
		}
	}
	mocks, err := r.args.CallMocks(launch.ToolDir(engine.DefaultStateDir()))
	if err != nil {
		return err
	}
	rules := launch.NotificationRules(r.plan, f.Settings, r.plan.Definition.Security.Enforce)
	if f.output == "json" {
		enc := json.NewEncoder(env.Stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			*preview.Preview
			Mocks  *script.MockedCall        `json:"mocks,omitempty"`
			Notify []launch.NotificationJSON `json:"notify,omitempty"`
		}{v, mocks, launch.NotificationsJSON(rules)})
	}
	fmt.Fprintf(env.Stdout, "%s would run:\n", v.Tool)
	for _, name := range ui.SortedKeys(v.Params) {
		b, _ := json.Marshal(v.Params[name])
		fmt.Fprintf(env.Stdout, "  %s = %s\n", name, b)
	}
	for _, t := range v.Tools {
		who := "it needs"
		if t.Step != "" {
			who = t.Step + " needs"
		}
		for _, n := range t.Permissions {
			fmt.Fprintf(env.Stdout, "  %s %s\n", who, console.Visible(n.Resolved))
		}
	}
	showEnforcement(env.Stdout, v.Tools)
	for _, t := range v.Tools {
		who := "it"
		if t.Step != "" {
			who = t.Step
		}
		for _, s := range t.Sources {
			fmt.Fprintf(env.Stdout, "  %s uses the secret %s\n", who, console.Visible(s))
		}
		showSurroundings(env.Stdout, "  "+who+" ", t.Surroundings)
		for _, c := range t.Cleanup {
			fmt.Fprintf(env.Stdout, "  %s runs at the end: %s\n", who, console.Visible(c))
		}
		for _, n := range t.Notify {
			fmt.Fprintf(env.Stdout, "  %s notifies: %s\n", who, console.Visible(n))
		}
	}
	for _, m := range v.MissingSecrets {
		fmt.Fprintf(env.Stdout, "  it lacks the secret %s\n", console.Visible(m))
	}
	for _, n := range runview.LockTitles(v.Needs) {
		fmt.Fprintf(env.Stdout, "  it needs %s\n", n)
	}
	showPreview(env.Stdout, v.Steps)
	showMocks(env.Stdout, mocks)
	if len(rules) > 0 {
		fmt.Fprintln(env.Stdout, "it would notify")
	}
	for _, r := range rules {
		fmt.Fprintf(env.Stdout, "  %s on %s\n", console.Visible(r.String()), r.When())
	}
	return nil
}

// showEnforcement prints what is enforced for the commands of each tool, and what is not.
func showEnforcement(w io.Writer, tools []preview.PreviewTool) {
	for _, t := range tools {
		who := ""
		if t.Step != "" {
			who = " for " + t.Step
		}
		if len(t.Enforced) > 0 {
			fmt.Fprintf(w, "  enforced%s: %s\n", who, console.Visible(strings.Join(t.Enforced, ", ")))
		}
		if len(t.Unenforced) > 0 {
			fmt.Fprintf(w, "  not enforced%s: %s\n", who, console.Visible(strings.Join(t.Unenforced, "; ")))
		}
	}
}

// showMocks prints what the mocks of a tool answered, and what the tool returned with them.
func showMocks(w io.Writer, m *script.MockedCall) {
	if m == nil {
		return
	}
	fmt.Fprintln(w, "with the mocks of its bridges")
	for _, b := range m.Bridges {
		fmt.Fprintf(w, "  %s %s\n", console.Visible(b.Name), mockedText(b.MockedResult))
	}
	fmt.Fprintf(w, "  the tool %s\n", mockedText(m.MockedResult))
}

func mockedText(r script.MockedResult) string {
	if r.Error != "" {
		return "fails: " + console.Visible(r.Error)
	}
	b, _ := json.Marshal(r.Value)
	return "returns " + console.Visible(string(b))
}

// showPreview prints the steps, each followed by the steps nested in it.
func showPreview(w io.Writer, all []preview.PreviewStep) {
	levels := map[string][]preview.PreviewStep{} // by the part of the ids up to the last slash
	for _, s := range all {
		prefix := s.ID[:strings.LastIndexByte(s.ID, '/')+1]
		levels[prefix] = append(levels[prefix], s)
	}
	showLevel(w, levels, "")
}

// showLevel prints the steps of one tool, grouped by wave. Nested steps, whose ids begin with
// prefix, follow the step that contains them. Control characters are made visible, so that a
// definition cannot hide what would run.
func showLevel(w io.Writer, levels map[string][]preview.PreviewStep, prefix string) {
	indent := strings.Repeat("    ", strings.Count(prefix, "/"))
	own := levels[prefix]
	slices.SortStableFunc(own, func(x, y preview.PreviewStep) int { return x.Wave - y.Wave })
	wave := 0
	for _, s := range own {
		if s.Wave != wave {
			wave = s.Wave
			fmt.Fprintf(w, "%swave %d\n", indent, wave)
		}
		fmt.Fprintf(w, "%s  %s (%s)\n", indent, strings.TrimPrefix(s.ID, prefix), s.Kind)
		if s.Handler != "" {
			fmt.Fprintf(w, "%s    %s\n", indent, s.Handler)
		}
		if s.Loop != "" {
			fmt.Fprintf(w, "%s    for each of %s\n", indent, console.Visible(s.Loop))
		}
		if s.Repeat != "" {
			fmt.Fprintf(w, "%s    repeats %s\n", indent, console.Visible(s.Repeat))
		}
		if s.Machine != "" {
			fmt.Fprintf(w, "%s    on %s\n", indent, console.Visible(s.Machine))
		}
		for _, h := range s.Holds {
			fmt.Fprintf(w, "%s    holds %s\n", indent, console.Visible(h))
		}
		if s.Condition != "" {
			fmt.Fprintf(w, "%s    if %s\n%s       %s: %s\n", indent, console.Visible(s.Condition), indent, s.Verdict, console.Visible(s.Why))
		}
		showSurroundings(w, indent+"    ", s.Surroundings)
		for _, line := range strings.Split(strings.TrimRight(s.Command, "\n"), "\n") {
			fmt.Fprintf(w, "%s    | %s\n", indent, console.Clean(line))
		}
		if s.Problem != "" {
			fmt.Fprintf(w, "%s    ! %s\n", indent, console.Visible(s.Problem))
		}
		showLevel(w, levels, s.ID+"/")
	}
}

// showSurroundings prints the runtime, environment and input of programs, one per line. Each line
// begins with begin.
func showSurroundings(w io.Writer, begin string, s preview.Surroundings) {
	if s.Runtime != "" {
		fmt.Fprintf(w, "%sruns with %s, outside the sandbox\n", begin, console.Visible(s.Runtime))
	}
	for _, c := range s.Container {
		fmt.Fprintf(w, "%scontainer: %s\n", begin, console.Visible(c))
	}
	for _, v := range s.Environment {
		note := ""
		if v.RunsCode {
			note = " (can make programs execute code)"
		}
		fmt.Fprintf(w, "%ssets %s = %s%s\n", begin, console.Visible(v.Name), console.Quote(v.Value), note)
	}
	for _, f := range s.EnvFiles {
		fmt.Fprintf(w, "%sreads the env file %s\n", begin, console.Quote(f))
	}
	for _, a := range s.Artifacts {
		fmt.Fprintf(w, "%skeeps %s\n", begin, console.Visible(a))
	}
	if s.Input != "" {
		fmt.Fprintf(w, "%shas the input %s\n", begin, console.Quote(s.Input))
	}
}
