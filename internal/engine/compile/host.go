package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// hostChosen reports whether somebody other than the author of the definition may choose a host by one of the references.
// It reports an error if the tool has no permissions for that. of names what connects to the host.
func hostChosen(c *stepTexts, at tool.Text, key, of string, refs []expr.Ref) bool {
	i := slices.IndexFunc(refs, c.names.CallerDecides)
	if i < 0 {
		return false
	}
	if !allowsHosts(c.definition) {
		c.Report(tool.Diagnostic{Code: "bad-address", Severity: tool.Error, Pos: at.At(refs[i].Off), Len: refs[i].Len, Path: c.key(key),
			Message: fmt.Sprintf("%s chooses the host of the %s, but required-permissions allows no host", refs[i], of),
			Hint:    "write the host as fixed text, or add network:external:HOST to security.required-permissions; network allows every host"})
	}
	return true
}

// allowsHosts reports whether the permissions of a tool allow any host.
func allowsHosts(def *tool.Definition) bool {
	return slices.ContainsFunc(def.Security.RequiredPermissions, func(p tool.Text) bool {
		return p.S == "network" || strings.HasPrefix(p.S, "network:") || strings.HasPrefix(p.S, "{")
	})
}

// warnNotPermitted warns about a host that the tool's permissions do not include, if the tool declares permissions.
func warnNotPermitted(c *stepTexts, at tool.Text, key, host string) {
	list := c.definition.Security.RequiredPermissions
	if host == "" || len(list) == 0 {
		return
	}
	for _, p := range list {
		parts := strings.SplitN(p.S, ":", 3)
		target := ""
		if len(parts) == 3 {
			target = strings.ToLower(parts[2])
		}
		name, wild := strings.CutPrefix(target, "*")
		switch host := strings.ToLower(host); {
		case strings.HasPrefix(parts[0], "{"), parts[0] == "network" && strings.Contains(p.S, "{"):
			return // unknown before the run
		case parts[0] != "network":
		case target == "", target == host, strings.HasPrefix(target, host+":"), wild && strings.HasSuffix(host, name):
			return
		}
	}
	c.problem(at, key, "not-permitted", tool.Warning, "the step connects to "+host+", but required-permissions does not list it",
		"add network:external:"+host+" or network:local:"+host)
}
