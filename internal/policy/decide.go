package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// EntryPoint is where a call comes in.
type EntryPoint string

// The doors. A person stands at Run; Serve is a schedule, or somebody who holds the
// service's token; Call and MCP are programs and models.
const (
	Run   EntryPoint = "run"
	Call  EntryPoint = "call"
	MCP   EntryPoint = "mcp"
	Serve EntryPoint = "serve"
)

// approvesByNaming says whether a call through the door names the tool on behalf of a person, and
// approves it so.
func (e EntryPoint) approvesByNaming() bool { return e == Run || e == Serve }

// Tool is what a decision depends on of one tool.
type Tool struct {
	Name     string
	Tags     []string // top-level tags, the only ones with security meaning
	Base     *Tool    // of an alias: the tool it stands for, which may be an alias itself
	Elevated bool     // security.execution-privilege: elevated
	Path     string   // of the step that uses it; "" for the tool that is called
	Place    Place    // whose tool it is
	// File is set where nobody vouches for what the definition says about itself: one
	// named by path, or one of a project that is not trusted. Its name and tags can then
	// deny it, but only * and this path allow it.
	File    string
	Written string // where File is set: how the caller wrote that path, as ./deploy.yaml
	Why     string // where File is set: why nobody vouches for it
}

// anyOf reports whether f holds for the tool or, of an alias, for a tool it stands for.
func (t Tool) anyOf(f func(Tool) bool) bool {
	return f(t) || t.Base != nil && t.Base.anyOf(f)
}

// level is what the tool may do at most: the highest of its security tags, of an alias
// the higher of its own and its base's.
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

// vouched says whether somebody vouches for all that the tool says about what it does.
func (t Tool) vouched() bool { return !t.anyOf(func(t Tool) bool { return t.File != "" }) }

// Risk is the level in words: read, write, run, or high risk.
func (t Tool) Risk() string {
	why := ""
	if t.anyOf(func(t Tool) bool { why = t.Why; return t.File != "" }) {
		return "high risk: its name and tags do not count, because " + why
	}
	if l := t.level(); l < highRisk {
		return levels[l]
	}
	return "high risk: no tag read, write or run"
}

// String is the tool as reasons call it, with the step that uses it.
func (t Tool) String() string {
	name := cmp.Or(t.Written, t.File, t.Name)
	if t.Path == "" {
		return fmt.Sprintf("tool %q", name)
	}
	return fmt.Sprintf("tool %q (used by step %q)", name, t.Path)
}

// Rules are the patterns in force, of flags and of the configuration alike.
type Rules struct{ Allow, Deny []Pattern }

// Request is one call to be decided. Tools[0] is the tool that is called; the others
// are those it uses inside, at any depth.
type Request struct {
	EntryPoint EntryPoint
	Tools      []Tool
	Rules      Rules
	Trusted    bool // where the tool comes from is trusted as a whole
	// Declared is set for a tool that a script calls: the script's permissions name it,
	// which its caller could see. It takes the place of being named by a person.
	Declared bool
	CanAsk   bool // there is a person who can answer
}

// Action is what becomes of a call.
type Action string

// The decisions. Ask is only given where there is somebody to ask.
const (
	Allow  Action = "allow"
	Refuse Action = "refuse"
	Ask    Action = "ask"
)

// Decision is the answer to a Request. Tool is the one of its tools that the answer
// hangs on, Reason a sentence for people.
type Decision struct {
	Action Action
	Tool   Tool
	Reason string
}

// Decide answers a request. One whose Tools are empty is refused.
func Decide(r Request) Decision {
	if len(r.Tools) == 0 {
		return Decision{Refuse, Tool{}, "nothing is called"}
	}
	for _, t := range r.Tools {
		if i := slices.IndexFunc(r.Rules.Deny, func(p Pattern) bool { return p.denies(t) }); i >= 0 {
			shown := t
			shown.File, shown.Written = "", "" // the name was denied
			return Decision{Refuse, t, fmt.Sprintf("%s is denied by %s", shown, r.Rules.Deny[i].source())}
		}
	}
	if i := slices.IndexFunc(r.Tools, func(t Tool) bool { return t.Elevated }); i >= 0 {
		return r.ask(r.Tools[i], fmt.Sprintf("%s wants elevated rights, which a person has to approve", r.Tools[i]))
	}
	called := r.Tools[0]
	if r.EntryPoint.approvesByNaming() && r.Declared {
		return Decision{Allow, called, fmt.Sprintf("%s is in the permissions of the script that calls it", called)}
	}
	if r.EntryPoint.approvesByNaming() {
		return Decision{Allow, called, fmt.Sprintf("%s was named by who runs it", called)}
	}
	// A tool that is allowed by name brings what it uses; any other reason has to hold
	// for each of them.
	if i := slices.IndexFunc(r.Rules.Allow, func(p Pattern) bool { return p.names(called) }); i >= 0 {
		return Decision{Allow, called, fmt.Sprintf("%s is allowed by %s", called, r.Rules.Allow[i].source())}
	}
	if r.Trusted {
		return Decision{Allow, called, fmt.Sprintf("%s comes from a trusted source", called)}
	}
	var reasons []string
	for _, t := range r.Tools {
		reason := r.allowedBy(t)
		if reason == "" {
			return r.ask(t, fmt.Sprintf("%s is not approved (%s)", t, t.Risk()))
		}
		reasons = append(reasons, reason)
	}
	return Decision{Allow, called, strings.Join(slices.Compact(reasons), "; ")}
}

// allowedBy is why a pattern allows the tool, "" where none does.
func (r Request) allowedBy(t Tool) string {
	for _, covers := range []func(Pattern, Tool) bool{Pattern.allows, Pattern.covers} {
		if i := slices.IndexFunc(r.Rules.Allow, func(p Pattern) bool { return covers(p, t) }); i >= 0 {
			return fmt.Sprintf("%s is allowed by %s", t, r.Rules.Allow[i].source())
		}
	}
	return ""
}

func (r Request) ask(t Tool, why string) Decision {
	if r.CanAsk {
		return Decision{Ask, t, why}
	}
	return Decision{Refuse, t, why + "; nobody can be asked here"}
}
