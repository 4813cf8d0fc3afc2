package cli

import (
	"slices"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/builtin"
	"github.com/flowrun/flowrun/internal/policy"
	"github.com/flowrun/flowrun/tool"
)

// modelVerdict is what the policy says of a call of a model. Some tools are known by the
// path of their file alone: the name and the tags that the file gives itself can speak
// against it and not for it.
func (f *consentFlags) modelVerdict(tools []flowrun.UsedTool, written string, canAsk bool) policy.Verdict {
	facts, rules := subject{tools: tools}.facts(), f.rules()
	against := policy.Decide(policy.Request{Door: policy.Call, Tools: facts, Rules: policy.Rules{Deny: rules.Deny}, CanAsk: true})
	if against.Decision == policy.Refuse {
		return against
	}
	for i, u := range tools {
		if byFile(u.Definition) {
			facts[i].Name, facts[i].Tags = u.Definition.File, nil
		}
	}
	if len(tools) > 0 && byFile(tools[0].Definition) {
		facts[0].Name = writtenAs(tools[0].Definition, written)
	}
	return policy.Decide(policy.Request{Door: policy.Call, Tools: facts, Rules: rules, CanAsk: canAsk})
}

// byFile says whether a tool is known by its file alone: one that is named by its path,
// which the caller may have written; and one of a project that goes by the name of a tool
// that is built in, which whoever approved that name did not mean.
func byFile(def *tool.Definition) bool {
	return def.Scope == tool.ScopeFile || def.Scope == tool.ScopeLocal && slices.Contains(builtInNames(), def.Name)
}

// writtenAs is how a tool that is known by its file was called.
func writtenAs(def *tool.Definition, written string) string {
	if def.Scope == tool.ScopeFile && written != "" {
		return written
	}
	return def.File
}

// builtInNames are those of the tools that come with the program.
func builtInNames() (names []string) {
	for _, def := range builtin.Tools(builtin.Config{}) {
		names = append(names, def.Name)
	}
	return names
}
