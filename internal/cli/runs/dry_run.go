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
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/engine/script"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/notify"
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
	v.LimitParallel(launch.Parallel(f.Settings, f.maxParallel))
	mocks, err := r.args.CallMocks(launch.ToolDir(engine.DefaultStateDir()))
	if err != nil {
		return err
	}
	rules := launch.NotificationRules(r.plan, f.Settings, r.plan.Definition.Security.Enforce)
	notes := launch.NotificationsJSON(rules, len(r.plan.Definition.Notify))
	if f.output == "json" {
		enc := json.NewEncoder(env.Stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			*preview.Preview
			Mocks  *script.MockedCall        `json:"mocks,omitempty"`
			Notify []launch.NotificationJSON `json:"notify,omitempty"`
		}{v, mocks, notes})
	}
	fmt.Fprintf(env.Stdout, "%s would run:\n", v.Tool)
	for _, name := range ui.SortedKeys(v.Params) {
		b, _ := json.Marshal(v.Params[name])
		fmt.Fprintf(env.Stdout, "  %s = %s\n", name, b)
	}
	showTools(env.Stdout, v.Tools)
	for _, m := range v.MissingSecrets {
		fmt.Fprintf(env.Stdout, "  it lacks the secret %s\n", console.Visible(m))
	}
	for _, n := range runview.LockTitles(v.Needs) {
		fmt.Fprintf(env.Stdout, "  it needs %s\n", n)
	}
	showPreview(env.Stdout, v.Steps)
	for _, line := range notice.Lines(v.Notices) {
		fmt.Fprintf(env.Stdout, "notice: %s\n", console.Visible(line))
	}
	showMocks(env.Stdout, mocks)
	showNotifications(env.Stdout, notes, rules)
	return nil
}

// showNotifications prints who is notified of the run.
func showNotifications(w io.Writer, notes []launch.NotificationJSON, rules []notify.Rule) {
	if len(rules) > 0 {
		fmt.Fprintln(w, "it would notify")
	}
	for i, r := range rules {
		by := notes[i].By
		if c := notes[i].Command; c != "" {
			by = "command " + c
		}
		fmt.Fprintf(w, "  %s on %s\n", console.Visible(by), r.When())
	}
}

// showTools prints what is to be known of the tool and of those that it uses.
func showTools(w io.Writer, all []preview.PreviewTool) {
	for _, t := range all {
		who := "it needs"
		if t.Step != "" {
			who = t.Step + " needs"
		}
		for _, n := range t.Permissions {
			fmt.Fprintf(w, "  %s %s\n", who, console.Visible(n.Resolved))
		}
	}
	showEnforcement(w, all)
	for _, t := range all {
		who := "it"
		if t.Step != "" {
			who = t.Step
		}
		showFacts(w, "  "+who+" ", t.Facts())
	}
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
		showFacts(w, indent+"    ", s.Facts())
		if s.Problem != "" {
			fmt.Fprintf(w, "%s    ! %s\n", indent, console.Visible(s.Problem))
		}
		showLevel(w, levels, s.ID+"/")
	}
}

// maxItems is how many facts of one kind a dry run prints. Its JSON document has all of them.
const maxItems = 30

// showFacts prints facts, one per line or, for a script, each of its lines after a vertical bar. Each line begins with begin.
func showFacts(w io.Writer, begin string, list []preview.Fact) {
	items := 0
	for _, f := range list {
		if f.Many == "items" {
			if items++; items > maxItems+1 {
				continue
			} else if items == maxItems+1 {
				fmt.Fprintf(w, "%s...\n", begin)
				continue
			}
		}
		d := f.DryRun
		words := d.Before
		if f.Name != "" {
			words += " " + console.Visible(f.Name) + " ="
		}
		if words != "" && d.Form != preview.Script {
			words += " "
		}
		switch d.Form {
		case preview.Quoted:
			fmt.Fprintf(w, "%s%s%s%s\n", begin, words, console.Quote(f.Text), d.After)
		case preview.Plain:
			fmt.Fprintf(w, "%s%s%s%s\n", begin, words, console.Visible(f.Text), d.After)
		case preview.Script:
			if words != "" {
				fmt.Fprintf(w, "%s%s\n", begin, words)
			}
			for _, line := range strings.Split(strings.TrimRight(f.Text, "\n"), "\n") {
				fmt.Fprintf(w, "%s| %s\n", begin, console.CleanCommand(line))
			}
		}
	}
}
