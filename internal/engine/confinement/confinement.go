// Package confinement says which rights the steps of a tool do not have, and what of that a machine
// can enforce.
//
// # The model
//
// A Confinement takes rights away: capabilities, files, hosts, memory. That of a tool inside another
// one takes away at least as much (Within). Each demand is checked by itself against the machine:
// Check, CheckGrants and CheckLimits return a reason for each that cannot be met, and the caller
// decides whether the run starts without it. This package starts no step; package steps gives its
// processes the rights that are left.
package confinement

import (
	"fmt"
	"os"
	"runtime"

	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/os/confine"
)

// Confinement lists the rights that the steps of a tool do not have. The zero Confinement takes
// none away.
type Confinement struct {
	Reduced bool // no capabilities and no way to get any; root becomes a user of this run only, in the group nobody
	Limits
	Image   string // container image that each step runs in; "": none
	Network bool   // the container may use the network

	// Enforced limits the steps to Grants: files, the network, environment variables and programs
	// that Grants does not name are denied.
	Enforced bool
	Grants   permission.Grants
}

// IsZero reports whether c takes no rights away.
func (c Confinement) IsZero() bool {
	return !c.Reduced && c.Limits == (Limits{}) && c.Image == "" && !c.Enforced
}

// Within returns the confinement of a tool that a confined tool uses. It takes at least as many
// rights away as outer.
func (c Confinement) Within(outer Confinement) Confinement {
	c.Reduced = c.Reduced || outer.Reduced
	if outer.Enforced {
		c.Enforced, c.Grants = true, c.Grants.Within(outer.Grants)
	}
	c.Limits = c.Limits.within(outer.Limits)
	if outer.Image == "" {
		return c
	}
	if c.Image == "" {
		c.Image, c.Network = outer.Image, outer.Network
	}
	c.Network = c.Network && outer.Network
	return c
}

// Check returns why a process cannot be confined like this here: one reason for each demand that
// cannot be met. env is what the run inherits. CheckGrants and CheckLimits do the same for what Enforced
// demands and for the limits.
func (c Confinement) Check(env []string) (reasons []error) {
	if c.Image != "" {
		if _, err := ContainerProgram(value(env, "PATH")); err != nil {
			reasons = append(reasons, fmt.Errorf("cannot provide isolation: container: %w", err))
		}
		return reasons // the container program takes away rights and limits what is used
	}
	if c.Reduced {
		if err := confine.Available(); err != nil {
			reasons = append(reasons, fmt.Errorf("cannot provide execution-privilege: reduced: %w", err))
		}
	}
	return reasons
}

// ChangesUser reports whether steps run as another user than this process: reduced steps of root
// do.
func (c Confinement) ChangesUser() bool {
	return c.Reduced && c.Image == "" && runtime.GOOS == "linux" && os.Geteuid() == 0
}

// UserVariables returns the variables that describe the other user, for steps that change it.
func (c Confinement) UserVariables() []string {
	if !c.ChangesUser() {
		return nil
	}
	return []string{"HOME=/nonexistent", "USER=nobody", "LOGNAME=nobody"}
}

// Restricts reports whether c takes rights away that a container with mounts or another user could give back.
func (c Confinement) Restricts() bool { return c.Image != "" || c.Reduced || c.Enforced }

// GrantsNetwork reports whether a container may have the network.
func (c Confinement) GrantsNetwork() bool {
	return (c.Image == "" || c.Network) && (!c.Enforced || len(c.Grants.Hosts()) > 0)
}
