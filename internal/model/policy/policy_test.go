package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/policy"
)

func patterns(t testing.TB, list ...string) (ps []policy.Pattern) {
	t.Helper()
	for _, s := range list {
		p, err := policy.ParsePattern(s, "")
		if err != nil {
			t.Fatal(err)
		}
		if p.String() != s {
			t.Errorf("%q is written %q", s, p)
		}
		ps = append(ps, p)
	}
	return ps
}

// TestMatrix is the approval matrix: what a tool says of itself, the rules of the caller, the entry point, and whether a
// person can be asked. A cell is "terminal/none": a allow, r refuse, ? ask.
func TestMatrix(t *testing.T) {
	tools := map[string]policy.Tool{
		"read":     {Name: "it", Tags: []string{"read", "weather"}},
		"write":    {Name: "it", Tags: []string{"write"}},
		"read+wr":  {Name: "it", Tags: []string{"read", "write"}},
		"run":      {Name: "it", Tags: []string{"run", "weather"}},
		"none":     {Name: "it"},
		"weather":  {Name: "it", Tags: []string{"weather"}},
		"elevated": {Name: "it", Tags: []string{"read", "weather"}, Elevated: true},
	}
	columns := []string{"read", "write", "read+wr", "run", "none", "weather", "elevated"}
	const named, asked = "a/a a/a a/a a/a a/a a/a ?/r", "?/r ?/r ?/r ?/r ?/r ?/r ?/r"
	const denied = "r/r r/r r/r r/r r/r r/r r/r"
	for _, row := range []struct{ allow, deny, person, program string }{
		// person: run and serve; program: call and mcp
		{"", "", named, asked},
		{"tool:it", "", named, named},
		{"*", "", named, named},
		{"tool:other", "", named, asked},
		{"tool:read", "", named, "a/a ?/r ?/r ?/r ?/r ?/r ?/r"},
		{"tool:write", "", named, "a/a a/a a/a ?/r ?/r ?/r ?/r"},
		{"tool:run", "", named, "a/a a/a a/a a/a ?/r ?/r ?/r"},
		{"tool:weather", "", named, "a/a ?/r ?/r a/a ?/r a/a ?/r"},
		{"*", "tool:it", denied, denied},
		{"tool:it", "*", denied, denied},
		{"*", "tool:read", denied, denied},
		{"*", "tool:write", "a/a r/r r/r r/r r/r r/r ?/r", "a/a r/r r/r r/r r/r r/r ?/r"},
		{"*", "tool:run", "a/a a/a a/a r/r r/r r/r ?/r", "a/a a/a a/a r/r r/r r/r ?/r"},
		{"*", "tool:weather", "r/r a/a a/a r/r a/a r/r r/r", "r/r a/a a/a r/r a/a r/r r/r"},
		{"", "tool:other", named, asked},
	} {
		rules := policy.Rules{}
		if row.allow != "" {
			rules.Allow = patterns(t, row.allow)
		}
		if row.deny != "" {
			rules.Deny = patterns(t, row.deny)
		}
		for _, entry := range []policy.EntryPoint{policy.Run, policy.Serve, policy.Call, policy.MCP} {
			want := row.program
			if entry == policy.Run || entry == policy.Serve {
				want = row.person
			}
			for _, trusted := range []bool{false, true} {
				var cells []string
				for _, name := range columns {
					it := tools[name]
					it.Trusted = trusted
					r := policy.Request{EntryPoint: entry, Tools: []policy.Tool{it}, Rules: rules}
					cells = append(cells, letter(decide(t, r, true))+"/"+letter(decide(t, r, false)))
				}
				got, want := strings.Join(cells, " "), want
				if trusted { // allows everything that is not denied or elevated
					cells := strings.Split(want, " ")
					for i := range cells[:len(cells)-1] {
						cells[i] = strings.ReplaceAll(cells[i], "?/r", "a/a")
					}
					want = strings.Join(cells, " ")
				}
				if got != want {
					t.Errorf("entry point %s, allow %q, deny %q, trusted %v:\ngot  %s\nwant %s\n     %s", entry, row.allow, row.deny, trusted, got, want, columns)
				}
			}
		}
	}
}

func decide(t testing.TB, r policy.Request, canAsk bool) policy.Decision {
	r.CanAsk = canAsk
	v := policy.Decide(r)
	if v.Reason == "" || v.Action == policy.Ask && !canAsk {
		t.Errorf("%+v: %+v", r, v)
	}
	return v
}

func letter(v policy.Decision) string {
	return map[policy.Action]string{policy.Allow: "a", policy.Refuse: "r", policy.Ask: "?"}[v.Action]
}

// TestInside checks that the tools which a tool uses are decided with it.
func TestInside(t *testing.T) {
	outer := policy.Tool{Name: "outer", Tags: []string{"read"}}
	inner := policy.Tool{Name: "inner", Tags: []string{"run"}, Path: "setup/clone"}
	alias := policy.Tool{Name: "short", Base: &policy.Tool{Name: "inner", Tags: []string{"read"}}, Tags: []string{"read"}, Path: "go"}
	root := policy.Tool{Name: "root", Tags: []string{"read"}, Elevated: true, Path: "sudo"}
	for _, c := range []struct {
		entry       policy.EntryPoint
		inside      policy.Tool
		allow, deny string
		want        policy.Action
		reason      string
	}{
		{policy.Run, inner, "", "", policy.Allow, `tool "outer" was requested by name`},
		{policy.Run, inner, "", "tool:inner", policy.Refuse, `tool "inner" (used by step "setup/clone") is denied by tool:inner`},
		{policy.Run, alias, "", "tool:inner", policy.Refuse, `tool "short" (used by step "go") is denied by tool:inner`},
		{policy.Run, root, "*", "", policy.Ask, `tool "root" (used by step "sudo") runs with elevated privileges, which a person must approve`},
		{policy.Call, inner, "tool:outer", "", policy.Allow, `tool "outer" is allowed by tool:outer`},
		{policy.Call, inner, "tool:read", "", policy.Ask, `tool "inner" (used by step "setup/clone") is not approved (run)`},
		{policy.Call, inner, "tool:run", "", policy.Allow, `tool "outer" is allowed by tool:run; tool "inner" (used by step "setup/clone") is allowed by tool:run`},
		{policy.Call, alias, "tool:inner", "", policy.Ask, `tool "outer" is not approved (read)`}, // allowing needs the exact name
	} {
		r := policy.Request{EntryPoint: c.entry, Tools: []policy.Tool{outer, c.inside}, CanAsk: true}
		if c.allow != "" {
			r.Rules.Allow = patterns(t, c.allow)
		}
		if c.deny != "" {
			r.Rules.Deny = patterns(t, c.deny)
		}
		if v := policy.Decide(r); v.Action != c.want || v.Reason != c.reason {
			t.Errorf("%s %s: %s, %q; want %s, %q", c.entry, c.inside.Name, v.Action, v.Reason, c.want, c.reason)
		}
	}
	if v := policy.Decide(policy.Request{EntryPoint: policy.Run}); v.Action != policy.Refuse {
		t.Errorf("nothing: %+v", v)
	}
}

// TestOrigin checks that a reason names the origin of the pattern.
func TestOrigin(t *testing.T) {
	p, err := policy.ParsePattern("tool:it", "--auto-deny")
	if err != nil {
		t.Fatal(err)
	}
	v := policy.Decide(policy.Request{EntryPoint: policy.Run, Tools: []policy.Tool{{Name: "it"}}, Rules: policy.Rules{Deny: []policy.Pattern{p}}})
	if want := `tool "it" is denied by tool:it (--auto-deny)`; v.Reason != want {
		t.Errorf("%q, want %q", v.Reason, want)
	}
}

func TestBadPatterns(t *testing.T) {
	for s, want := range map[string]string{
		"":              "write tool:NAME",
		"read":          "write tool:read",
		"deploy":        "write tool:NAME",
		"tool:":         "after tool: is missing",
		"tool:a*":       "wildcards are not supported",
		"tool:*":        "wildcards are not supported",
		"tool:a b":      "no spaces",
		"tool:a\x1b[2J": "wildcards are not supported",
		"tool:a\u202eb": "no spaces",
		"Tool:a":        "write tool:NAME",
		"**":            "write tool:NAME",
	} {
		if _, err := policy.ParsePattern(s, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", s, err, want)
		}
	}
}

// FuzzDecide checks that a denied tool never runs, that an elevated one never runs without an approval, and that nothing
// is asked if no person can be asked.
func FuzzDecide(f *testing.F) {
	f.Add("it", "read,x", "tool:it", "tool:x", true, false)
	f.Add("it", "", "*", "", false, true)
	f.Fuzz(func(t *testing.T, name, tags, allow, deny string, elevated, canAsk bool) {
		it := policy.Tool{Name: name, Tags: strings.Split(tags, ","), Elevated: elevated, Trusted: true}
		r := policy.Request{Tools: []policy.Tool{it}, CanAsk: canAsk}
		if p, err := policy.ParsePattern(allow, ""); err == nil {
			r.Rules.Allow = append(r.Rules.Allow, p)
		}
		if p, err := policy.ParsePattern(deny, ""); err == nil {
			r.Rules.Deny = append(r.Rules.Deny, p)
		}
		denied := len(r.Rules.Deny) > 0 && (deny == "*" || slices.Contains(append(it.Tags, it.Name), strings.TrimPrefix(deny, "tool:")))
		for _, r.EntryPoint = range []policy.EntryPoint{policy.Run, policy.Call, policy.MCP, policy.Serve} {
			v := policy.Decide(r)
			switch {
			case denied && v.Action != policy.Refuse,
				elevated && v.Action == policy.Allow,
				!canAsk && v.Action == policy.Ask:
				t.Error(fmt.Sprintf("%+v", r), v)
			}
		}
	})
}

// TestWhose checks that a pattern which allows by name means a tool of its own place, and that a tool which is not
// trusted is allowed only by * and by its path.
func TestWhose(t *testing.T) {
	base := &policy.Tool{Name: "base", Tags: []string{"run", "prod"}}
	tools := map[string]policy.Tool{
		"user's":         {Name: "it", Tags: []string{"read", "mine"}, Place: policy.OfUser},
		"project's":      {Name: "it", Tags: []string{"read", "mine"}, Place: policy.Project},
		"program's":      {Name: "it", Tags: []string{"read", "mine"}},
		"untrusted":      {Name: "it", Tags: []string{"read", "mine"}, Place: policy.Project, File: "/p/it.yaml"},
		"by path":        {Name: "it", Tags: []string{"read", "mine"}, File: "/p/it.yaml", Written: "./it.yaml"},
		"alias":          {Name: "it", Tags: []string{"read", "mine"}, Place: policy.OfUser, Base: base},
		"untrusted base": {Name: "it", Tags: []string{"read", "mine"}, Place: policy.OfUser, Base: &policy.Tool{Name: "b", Tags: []string{"read"}, File: "/p/b.yaml"}},
	}
	for _, c := range []struct {
		pattern string
		in      policy.Place
		tag     bool // it may be a tag
		allowed string
	}{
		{"tool:it", policy.Anywhere, true, "alias program's project's untrusted base user's"},
		{"tool:it", policy.OfUser, true, "alias program's untrusted base user's"},
		{"tool:it", policy.Project, true, "program's project's"},
		{"tool:mine", policy.OfUser, true, "alias program's project's untrusted base user's"},
		{"tool:mine", policy.OfUser, false, ""},
		{"tool:read", policy.OfUser, true, "program's project's user's"},
		{"tool:run", policy.OfUser, true, "alias program's project's user's"},
		{"tool:base", policy.Anywhere, true, ""},
		{"tool:prod", policy.Anywhere, true, ""},
		{"tool:/p/it.yaml", policy.OfUser, true, "by path untrusted"},
		{"tool:./it.yaml", policy.Anywhere, true, "by path"},
		{"tool:./it.yaml", policy.Project, true, "by path"},
		{"tool:./it.yaml", policy.OfUser, true, ""},
		{"*", policy.OfUser, true, "alias by path program's project's untrusted untrusted base user's"},
	} {
		p := patterns(t, c.pattern)[0].In(c.in)
		if !c.tag {
			p = p.ByName()
		}
		var got []string
		for name, tool := range tools {
			v := policy.Decide(policy.Request{EntryPoint: policy.Call, Tools: []policy.Tool{tool}, Rules: policy.Rules{Allow: []policy.Pattern{p}}})
			if v.Action == policy.Allow {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.allowed {
			t.Errorf("%s in %q, tag %v, allows %q; want %q", c.pattern, c.in, c.tag, got, c.allowed)
		}
	}
	for pattern, want := range map[string]string{"tool:base": "alias", "tool:prod": "alias", "tool:run": "alias", "tool:mine": "alias by path program's project's untrusted untrusted base user's"} {
		var got []string
		for name, tool := range tools {
			if decide(t, policy.Request{EntryPoint: policy.Run, Tools: []policy.Tool{tool}, Rules: policy.Rules{Deny: patterns(t, pattern)}}, true).Action == policy.Refuse {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s denies %q; want %q", pattern, got, want)
		}
	}
}

// TestDeclared checks that the permissions of a script allow its calls, unless the tool is denied or elevated.
func TestDeclared(t *testing.T) {
	for _, entry := range []policy.EntryPoint{policy.Run, policy.Serve} {
		it := policy.Tool{Name: "it", Tags: []string{"run"}}
		v := policy.Decide(policy.Request{EntryPoint: entry, Declared: true, Tools: []policy.Tool{it}})
		if v.Action != policy.Allow || v.Reason != `the permissions of the calling script include tool "it"` {
			t.Errorf("%s: %+v", entry, v)
		}
		if v := policy.Decide(policy.Request{EntryPoint: entry, Declared: true, Tools: []policy.Tool{it}, Rules: policy.Rules{Deny: patterns(t, "tool:run")}}); v.Action != policy.Refuse {
			t.Errorf("%s: %+v", entry, v)
		}
		it.Elevated = true
		if v := policy.Decide(policy.Request{EntryPoint: entry, Declared: true, Tools: []policy.Tool{it}}); v.Action != policy.Refuse {
			t.Errorf("%s: %+v", entry, v)
		}
	}
}
