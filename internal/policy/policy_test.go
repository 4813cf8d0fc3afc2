package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/policy"
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

// TestMatrix is the approval matrix: what a tool says of itself, what the caller said,
// which door, and whether somebody can be asked. A cell is "terminal/none": a allow,
// r refuse, ? ask.
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
		for _, door := range []policy.Door{policy.Run, policy.Serve, policy.Call, policy.MCP} {
			want := row.program
			if door == policy.Run || door == policy.Serve {
				want = row.person
			}
			for _, trusted := range []bool{false, true} {
				var cells []string
				for _, name := range columns {
					r := policy.Request{Door: door, Tools: []policy.Tool{tools[name]}, Rules: rules, Trusted: trusted}
					cells = append(cells, letter(decide(t, r, true))+"/"+letter(decide(t, r, false)))
				}
				got, want := strings.Join(cells, " "), want
				if trusted { // answers everything but what is denied or elevated
					cells := strings.Split(want, " ")
					for i := range cells[:len(cells)-1] {
						cells[i] = strings.ReplaceAll(cells[i], "?/r", "a/a")
					}
					want = strings.Join(cells, " ")
				}
				if got != want {
					t.Errorf("door %s, allow %q, deny %q, trusted %v:\ngot  %s\nwant %s\n     %s", door, row.allow, row.deny, trusted, got, want, columns)
				}
			}
		}
	}
}

func decide(t testing.TB, r policy.Request, canAsk bool) policy.Verdict {
	r.CanAsk = canAsk
	v := policy.Decide(r)
	if v.Reason == "" || v.Decision == policy.Ask && !canAsk {
		t.Errorf("%+v: %+v", r, v)
	}
	return v
}

func letter(v policy.Verdict) string {
	return map[policy.Decision]string{policy.Allow: "a", policy.Refuse: "r", policy.Ask: "?"}[v.Decision]
}

// TestInside: what a tool uses is judged with it.
func TestInside(t *testing.T) {
	outer := policy.Tool{Name: "outer", Tags: []string{"read"}}
	inner := policy.Tool{Name: "inner", Tags: []string{"run"}, Path: "setup/clone"}
	alias := policy.Tool{Name: "short", Base: &policy.Tool{Name: "inner", Tags: []string{"read"}}, Tags: []string{"read"}, Path: "go"}
	root := policy.Tool{Name: "root", Tags: []string{"read"}, Elevated: true, Path: "sudo"}
	for _, c := range []struct {
		door        policy.Door
		inside      policy.Tool
		allow, deny string
		want        policy.Decision
		reason      string
	}{
		{policy.Run, inner, "", "", policy.Allow, `tool "outer" was named by who runs it`},
		{policy.Run, inner, "", "tool:inner", policy.Refuse, `tool "inner" (used by step "setup/clone") is denied by tool:inner`},
		{policy.Run, alias, "", "tool:inner", policy.Refuse, `tool "short" (used by step "go") is denied by tool:inner`},
		{policy.Run, root, "*", "", policy.Ask, `tool "root" (used by step "sudo") wants elevated rights, which a person has to approve`},
		{policy.Call, inner, "tool:outer", "", policy.Allow, `tool "outer" is allowed by tool:outer`},
		{policy.Call, inner, "tool:read", "", policy.Ask, `tool "inner" (used by step "setup/clone") is not approved (run)`},
		{policy.Call, inner, "tool:run", "", policy.Allow, `tool "outer" is allowed by tool:run; tool "inner" (used by step "setup/clone") is allowed by tool:run`},
		{policy.Call, alias, "tool:inner", "", policy.Ask, `tool "outer" is not approved (read)`}, // to allow takes the very name
	} {
		r := policy.Request{Door: c.door, Tools: []policy.Tool{outer, c.inside}, CanAsk: true}
		if c.allow != "" {
			r.Rules.Allow = patterns(t, c.allow)
		}
		if c.deny != "" {
			r.Rules.Deny = patterns(t, c.deny)
		}
		if v := policy.Decide(r); v.Decision != c.want || v.Reason != c.reason {
			t.Errorf("%s %s: %s, %q; want %s, %q", c.door, c.inside.Name, v.Decision, v.Reason, c.want, c.reason)
		}
	}
	if v := policy.Decide(policy.Request{Door: policy.Run}); v.Decision != policy.Refuse {
		t.Errorf("nothing: %+v", v)
	}
}

// TestOrigin: a reason says who wrote the pattern.
func TestOrigin(t *testing.T) {
	p, err := policy.ParsePattern("tool:it", "--auto-deny")
	if err != nil {
		t.Fatal(err)
	}
	v := policy.Decide(policy.Request{Door: policy.Run, Tools: []policy.Tool{{Name: "it"}}, Rules: policy.Rules{Deny: []policy.Pattern{p}}})
	if want := `tool "it" is denied by tool:it (--auto-deny)`; v.Reason != want {
		t.Errorf("%q, want %q", v.Reason, want)
	}
}

func TestBadPatterns(t *testing.T) {
	for s, want := range map[string]string{
		"":              "write tool:NAME",
		"read":          "write tool:read",
		"deploy":        "write tool:NAME",
		"tool:":         "missing after tool:",
		"tool:a*":       "no wildcards",
		"tool:*":        "no wildcards",
		"tool:a b":      "blanks",
		"tool:a\x1b[2J": "no wildcards",
		"tool:a\u202eb": "blanks",
		"Tool:a":        "write tool:NAME",
		"**":            "write tool:NAME",
	} {
		if _, err := policy.ParsePattern(s, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", s, err, want)
		}
	}
}

// FuzzDecide: whatever is allowed, what is denied or elevated never goes ahead unasked,
// and nothing is asked where nobody is.
func FuzzDecide(f *testing.F) {
	f.Add("it", "read,x", "tool:it", "tool:x", true, false)
	f.Add("it", "", "*", "", false, true)
	f.Fuzz(func(t *testing.T, name, tags, allow, deny string, elevated, canAsk bool) {
		it := policy.Tool{Name: name, Tags: strings.Split(tags, ","), Elevated: elevated}
		r := policy.Request{Tools: []policy.Tool{it}, CanAsk: canAsk, Trusted: true}
		if p, err := policy.ParsePattern(allow, ""); err == nil {
			r.Rules.Allow = append(r.Rules.Allow, p)
		}
		if p, err := policy.ParsePattern(deny, ""); err == nil {
			r.Rules.Deny = append(r.Rules.Deny, p)
		}
		denied := len(r.Rules.Deny) > 0 && (deny == "*" || slices.Contains(append(it.Tags, it.Name), strings.TrimPrefix(deny, "tool:")))
		for _, r.Door = range []policy.Door{policy.Run, policy.Call, policy.MCP, policy.Serve} {
			v := policy.Decide(r)
			switch {
			case denied && v.Decision != policy.Refuse,
				elevated && v.Decision == policy.Allow,
				!canAsk && v.Decision == policy.Ask:
				t.Error(fmt.Sprintf("%+v", r), v)
			}
		}
	})
}
