package confinement

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/internal/os/confine"
)

// Held returns in a few words what this machine enforces for the steps, and why it does not enforce the rest. m and env
// are those of CheckGrants and Check.
func (c Confinement) Held(m Means, env []string) (held []string, missing []error) {
	missing = slices.Concat(c.Check(env), c.CheckGrants(m), c.CheckLimits())
	if c.Image != "" {
		if len(c.Check(env)) > 0 {
			return nil, missing
		}
		network := "without network"
		if c.Network {
			network = "with the whole network"
		}
		held = append(held, "container "+c.Image+" "+network)
	}
	if c.Reduced && confine.Available() == nil && c.Image == "" {
		held = append(held, "reduced privileges")
	}
	if c.Sandboxed() && c.CheckSandbox() == nil {
		held = append(held, "files", "system calls", "variables")
		switch n := len(c.Grants.Hosts()); {
		case n == 0:
			held = append(held, "no network")
		case !c.LimitsHosts() || c.CheckHosts(m) != nil:
		case n == 1:
			held = append(held, "network (1 host)")
		default:
			held = append(held, fmt.Sprintf("network (%d hosts)", n))
		}
	}
	limits, _ := c.Enforceable()
	return append(held, limits.texts()...), missing
}

// texts returns the limits that are set, by their keys.
func (l Limits) texts() (list []string) {
	add := func(set bool, key string, value any) {
		if set {
			list = append(list, fmt.Sprintf("%s %v", key, value))
		}
	}
	add(l.MaxMemory > 0, "max-memory", SizeText(l.MaxMemory))
	add(l.MaxProcesses > 0, "max-processes", l.MaxProcesses)
	add(l.MaxCPU > 0, "max-cpu", l.MaxCPU)
	add(l.CPU > 0, "cpu", l.CPU)
	add(l.MaxFileSize > 0, "max-file-size", SizeText(l.MaxFileSize))
	add(l.MaxOpenFiles > 0, "max-open-files", l.MaxOpenFiles)
	add(l.MaxOutput > 0, "max-output", SizeText(l.MaxOutput))
	return list
}
