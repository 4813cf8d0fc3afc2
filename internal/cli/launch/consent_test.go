package launch

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/policy"
	"github.com/flowrun/flowrun/internal/observe/audit"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

// rule is a setting of approvals, of a layer.
func rule(key, pattern string, layer config.Layer) config.Value {
	return config.Value{Key: key, Value: pattern, List: true, Origin: config.Origin{Layer: layer}}
}

// TestRules: the flags come before the settings, and a setting that needs trust does not count without it.
func TestRules(t *testing.T) {
	ignored := rule("approvals.allow", "tool:ignored", config.Project)
	ignored.Ignored = true
	f := ConsentFlags{approve: []string{"tool:a"}, deny: []string{"tool:b"}, Settings: &config.Config{Values: []config.Value{
		rule("approvals.allow", "tool:c", config.User), rule("approvals.deny", "tool:d", config.Project), ignored}}}
	r := f.Rules()
	words := func(list []policy.Pattern) (words []string) {
		for _, p := range list {
			words = append(words, p.String())
		}
		return words
	}
	if got := words(r.Allow); !cmp.Equal(got, []string{"tool:a", "tool:c"}) {
		t.Errorf("allow: %q", got)
	}
	if got := words(r.Deny); !cmp.Equal(got, []string{"tool:b", "tool:d"}) {
		t.Errorf("deny: %q", got)
	}
}

// TestRulesOfPlaces: a rule that allows by name means a tool of its own place; the flags mean every place, and so does what
// denies.
func TestRulesOfPlaces(t *testing.T) {
	allow, deny := "approvals.allow", "approvals.deny"
	for _, c := range []struct {
		name  string
		flags ConsentFlags
		scope tool.Scope
		want  policy.Action
	}{
		{"flag, project", ConsentFlags{approve: []string{"tool:deploy"}}, tool.ScopeLocal, policy.Allow},
		{"flag, user", ConsentFlags{approve: []string{"tool:deploy"}}, tool.ScopeUser, policy.Allow},
		{"project, project", ConsentFlags{Settings: &config.Config{Values: []config.Value{rule(allow, "tool:deploy", config.Project)}}}, tool.ScopeLocal, policy.Allow},
		{"project, user", ConsentFlags{Settings: &config.Config{Values: []config.Value{rule(allow, "tool:deploy", config.Project)}}}, tool.ScopeUser, policy.Refuse},
		{"project, global", ConsentFlags{Settings: &config.Config{Values: []config.Value{rule(allow, "tool:deploy", config.Project)}}}, tool.ScopeGlobal, policy.Refuse},
		{"user, project", ConsentFlags{Settings: &config.Config{Values: []config.Value{rule(allow, "tool:deploy", config.User)}}}, tool.ScopeLocal, policy.Refuse},
		{"user, global", ConsentFlags{Settings: &config.Config{Values: []config.Value{rule(allow, "tool:deploy", config.User)}}}, tool.ScopeGlobal, policy.Allow},
		{"denied by a project", ConsentFlags{approve: []string{"tool:deploy"}, Settings: &config.Config{Values: []config.Value{rule(deny, "tool:deploy", config.Project)}}}, tool.ScopeUser, policy.Refuse},
	} {
		def := &tool.Definition{Name: "deploy", Scope: c.scope}
		facts := Subject{Tools: []plan.UsedTool{{Definition: def}}}.Facts()
		if got := policy.Decide(policy.Request{EntryPoint: policy.Call, Tools: facts, Rules: c.flags.Rules()}); got.Action != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}

// TestDescribeTool: an alias stands for its base tools, and has their tags if it has none.
func TestDescribeTool(t *testing.T) {
	base := &tool.Definition{Name: "base", Tags: []string{"write"}, Scope: tool.ScopeUser}
	for _, c := range []struct {
		tags, want []string
	}{
		{nil, []string{"write"}},
		{[]string{"read"}, []string{"read"}},
	} {
		alias := &tool.Definition{Name: "alias", Alias: true, Tags: c.tags, Scope: tool.ScopeLocal}
		compiled := *alias
		compiled.MadeOf = []*tool.Definition{alias, base}
		compiled.Security.ExecutionPrivilege, compiled.SourceTrusted = "elevated", true
		got := Subject{Tools: []plan.UsedTool{{Path: "use", Definition: &compiled}}}.Facts()[0]
		want := policy.Tool{Name: "alias", Tags: c.want, Path: "use", Elevated: true, Trusted: true, Place: policy.Project,
			Base: &policy.Tool{Name: "base", Tags: []string{"write"}, Place: policy.OfUser}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// TestPathOnly holds for which tools of a model's call name and tags do not count.
func TestPathOnly(t *testing.T) {
	trusting, err := config.Load(config.Options{WorkingDirectory: t.TempDir(), Home: t.TempDir(), Getenv: func(string) string { return "" }, TrustProject: true})
	if err != nil {
		t.Fatal(err)
	}
	changed := &config.Config{Trust: config.Trust{Folder: "/p", State: config.Trusted}} // no definition of it is recorded
	const file = "/p/.flowrun/tools/x.yaml"
	for _, c := range []struct {
		name, tool string
		scope      tool.Scope
		settings   *config.Config
		why        string
	}{
		{"by path", "x", tool.ScopeFile, trusting, "it is called by its path"},
		{"no settings", "x", tool.ScopeLocal, nil, "its project is not trusted"},
		{"untrusted", "x", tool.ScopeLocal, &config.Config{Trust: config.Trust{Folder: "/p"}}, "its project is not trusted"},
		{"another project", "x", tool.ScopeLocal, &config.Config{Trust: config.Trust{Folder: "/q", State: config.Trusted}}, "its project is not trusted"},
		{"changed", "x", tool.ScopeLocal, changed, definitionChanged},
		{"trusted", "x", tool.ScopeLocal, trusting, ""},
		{"built-in name", builtInNames()[0], tool.ScopeLocal, trusting, "it has the name of a built-in tool"},
		{"of the user", builtInNames()[0], tool.ScopeUser, nil, ""},
	} {
		f := ConsentFlags{Settings: c.settings}
		where, why := f.pathOnly(&tool.Definition{Name: c.tool, File: file, Scope: c.scope})
		if why != c.why || (where == file) != (why != "") {
			t.Errorf("%s: %q, %q, want %q", c.name, where, why, c.why)
		}
		if got := describeTool(plan.UsedTool{Definition: &tool.Definition{Name: c.tool, File: file, Scope: c.scope}}, f.pathOnly); got.Changed != (c.why == definitionChanged) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestModelFacts: how the model wrote a path is kept for the tool that it called, not for those inside.
func TestModelFacts(t *testing.T) {
	file := func(name string, s tool.Scope) plan.UsedTool {
		return plan.UsedTool{Definition: &tool.Definition{Name: name, File: "/x/" + name, Scope: s}}
	}
	f := &ConsentFlags{}
	var got []string
	for _, tools := range [][]plan.UsedTool{{file("a", tool.ScopeFile), file("b", tool.ScopeFile)}, {file("c", tool.ScopeUser)}} {
		for _, u := range f.ModelFacts(tools, "./a") {
			got = append(got, u.Name+" "+u.Written)
		}
	}
	if !slices.Equal(got, []string{"a ./a", "b ", "c "}) {
		t.Errorf("%q", got)
	}
}

// TestTagOrName: a pattern that is the tag of a called tool, and the name of another tool, means the name.
func TestTagOrName(t *testing.T) {
	lib := library.New(library.Config{WorkingDirectory: t.TempDir(), Home: t.TempDir()})
	def, found := lib.Read("/x/deploy.yaml", tool.ScopeUser, []byte("description: Deploys\nbash: echo\n"))
	if err := errors.Join(tool.Diagnostics(found).Err(), lib.Add(def)); err != nil {
		t.Fatal(err)
	}
	called := []plan.UsedTool{{Definition: &tool.Definition{Name: "other", Tags: []string{"deploy", "free"}, Scope: tool.ScopeUser}}}
	for pattern, want := range map[string]policy.Action{"tool:deploy": policy.Refuse, "tool:free": policy.Allow, "tool:other": policy.Allow} {
		f := ConsentFlags{approve: []string{pattern}, EntryPoint: policy.Call, Library: func() *library.Library { return lib }}
		if got := f.Decide(called, "", false); got.Action != want {
			t.Errorf("%s: %+v", pattern, got)
		}
		err := f.MayCall(called)
		refused, _ := errors.AsType[*ui.RefusedError](err)
		if (err == nil) != (want == policy.Allow) || err != nil && (refused == nil || refused.Reason != registry.NotApproved) { // a model does not learn why
			t.Errorf("%s: %v", pattern, err)
		}
	}
	f := ConsentFlags{deny: []string{"tool:other"}}
	if err := f.MayCall(called); err == nil || !strings.Contains(err.Error(), "--auto-deny") {
		t.Errorf("a person does not learn why: %v", err)
	}
}

// TestDescribe holds what the audit log keeps of a call.
func TestDescribe(t *testing.T) {
	long := strings.Repeat("ä", maxAuditedParam)
	var d audit.Decision
	describe(&d, &preview.Preview{Params: map[string]any{"A": "x", "B": long, "C": long + "ä"}, Tools: []preview.PreviewTool{{}, {Privilege: "elevated"}, {Privilege: "reduced"}}})
	want := map[string]string{"A": "x", "B": long, "C": fmt.Sprintf("%s... (%d characters)", long, maxAuditedParam+1)}
	if diff := cmp.Diff(want, d.Params); diff != "" || !d.Elevated {
		t.Error(d.Elevated, diff)
	}
}
