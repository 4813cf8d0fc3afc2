package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// EntryPoint is the way a call came in.
type EntryPoint string

// The entry points. Run is used by a person. Serve is a schedule, or a client with the token of the service. Call and
// MCP are used by programs and models.
const (
	Run   EntryPoint = "run"
	Call  EntryPoint = "call"
	MCP   EntryPoint = "mcp"
	Serve EntryPoint = "serve"
)

// approvesByNaming reports whether a call at this entry point approves a tool by naming it. The caller is a person
// there, or acts for one.
func (e EntryPoint) approvesByNaming() bool { return e == Run || e == Serve }

// ForModels reports whether models call tools at this entry point.
func (e EntryPoint) ForModels() bool { return e == Call || e == MCP }

// Tool is what a decision needs to know of one tool.
type Tool struct {
	Name     string
	Tags     []string // top-level tags, the only ones that count for security
	Base     *Tool    // for an alias: the tool it stands for, which may be an alias itself
	Elevated bool     // security.execution-privilege: elevated
	Path     string   // the step that uses the tool; "" for the tool that is called
	Place    Place    // whose tool it is
	Trusted  bool     // the source of the tool is trusted as a whole
	// File is set if the definition's claims about itself cannot be trusted: it was named by path, or belongs to a
	// project that is not trusted. Its name and tags can then deny it, but only * and this path allow it.
	File    string
	Written string // if File is set: the path as the caller wrote it, such as ./deploy.yaml
	Why     string // if File is set: why the definition is not trusted
	// Changed is set if the user trusted another definition. Then a tool that is allowed by name may not use it.
	Changed bool
}

// anyOf reports whether f holds for the tool or, for an alias, for a tool that it stands for.
func (t Tool) anyOf(f func(Tool) bool) bool {
	return f(t) || t.Base != nil && t.Base.anyOf(f)
}

// level returns the most that the tool may do: the highest of its security tags. For an alias it is the higher level
// of its own and its base tool.
func (t Tool) level() int {
	own := highRisk
	for i, l := range slices.Backward(levels) {
		if slices.Contains(t.Tags, l) {
			own = i
			break
		}
	}
	if t.Base != nil {
		return max(own, t.Base.level())
	}
	return own
}

// vouched reports whether the definition's claims about what the tool does can be trusted.
func (t Tool) vouched() bool { return !t.anyOf(func(t Tool) bool { return t.File != "" }) }

// ReadOnly reports whether the tool may only read, according to tags that can be trusted.
func (t Tool) ReadOnly() bool { return t.vouched() && t.level() == slices.Index(levels, "read") }

// Risk returns the level in words: read, write, run, or high risk.
func (t Tool) Risk() string {
	why := ""
	if t.anyOf(func(t Tool) bool { why = t.Why; return t.File != "" }) {
		return "high risk: its name and tags are ignored because " + why
	}
	if l := t.level(); l < highRisk {
		return levels[l]
	}
	return "high risk: no tag read, write or run"
}

// String returns the tool as reasons name it, with the step that uses it.
func (t Tool) String() string {
	name := cmp.Or(t.Written, t.File, t.Name)
	if t.Path == "" {
		return fmt.Sprintf("tool %q", name)
	}
	return fmt.Sprintf("tool %q (used by step %q)", name, t.Path)
}

// Rules are the patterns that apply, from flags and from the configuration.
type Rules struct{ Allow, Deny []Pattern }

// Request is one call to decide. Tools[0] is the tool that is called. The others are the tools that it uses, at any
// depth.
type Request struct {
	EntryPoint EntryPoint
	Tools      []Tool
	Rules      Rules
	// Declared is set for a tool that a script calls: the permissions of the script name the tool, and the caller of
	// the script could see them. This counts like being named by a person.
	Declared bool
	CanAsk   bool // a person can be asked
}

// Action is what happens with a call.
type Action string

// The actions. Ask is used only if a person can be asked.
const (
	Allow  Action = "allow"
	Refuse Action = "refuse"
	Ask    Action = "ask"
)

// Decision is the answer to a Request. Reason is a sentence for people.
type Decision struct {
	Action Action
	Reason string
}

// Decide decides a request. It refuses a request without Tools. Safe for concurrent use.
func Decide(r Request) Decision {
	if len(r.Tools) == 0 {
		return Decision{Refuse, "no tool is called"}
	}
	for _, t := range r.Tools {
		if i := slices.IndexFunc(r.Rules.Deny, func(p Pattern) bool { return p.denies(t) }); i >= 0 {
			shown := t
			shown.File, shown.Written = "", "" // the tool was denied by its name, so the reason shows that
			return Decision{Refuse, fmt.Sprintf("%s is denied by %s", shown, r.Rules.Deny[i].source())}
		}
	}
	if i := slices.IndexFunc(r.Tools, func(t Tool) bool { return t.Elevated }); i >= 0 {
		return r.ask(fmt.Sprintf("%s runs with elevated privileges, which a person must approve", r.Tools[i]))
	}
	called := r.Tools[0]
	if r.EntryPoint.approvesByNaming() && r.Declared {
		return Decision{Allow, fmt.Sprintf("the permissions of the calling script include %s", called)}
	}
	if r.EntryPoint.approvesByNaming() {
		return Decision{Allow, fmt.Sprintf("%s was requested by name", called)}
	}
	// A tool that is allowed by name may use its inner tools, as they were then. Any other reason has to hold for each of them.
	changed := slices.ContainsFunc(r.Tools, func(t Tool) bool { return t.anyOf(func(t Tool) bool { return t.Changed }) })
	if i := slices.IndexFunc(r.Rules.Allow, func(p Pattern) bool { return p.names(called) }); i >= 0 && !changed {
		return Decision{Allow, fmt.Sprintf("%s is allowed by %s", called, r.Rules.Allow[i].source())}
	}
	var reasons []string
	for _, t := range r.Tools {
		reason := r.allowedBy(t)
		if reason == "" {
			return r.ask(fmt.Sprintf("%s is not approved (%s)", t, t.Risk()))
		}
		reasons = append(reasons, reason)
	}
	return Decision{Allow, strings.Join(slices.Compact(reasons), "; ")}
}

// allowedBy returns why the tool is allowed: by a pattern, or because its source is trusted. It returns "" if it is not.
func (r Request) allowedBy(t Tool) string {
	for _, covers := range []func(Pattern, Tool) bool{Pattern.allows, Pattern.covers} {
		if i := slices.IndexFunc(r.Rules.Allow, func(p Pattern) bool { return covers(p, t) }); i >= 0 {
			return fmt.Sprintf("%s is allowed by %s", t, r.Rules.Allow[i].source())
		}
		if t.Trusted {
			return fmt.Sprintf("%s comes from a trusted source", t)
		}
	}
	return ""
}

func (r Request) ask(why string) Decision {
	if r.CanAsk {
		return Decision{Ask, why}
	}
	return Decision{Refuse, why + "; there is nobody to ask"}
}
