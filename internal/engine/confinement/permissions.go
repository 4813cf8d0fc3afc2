package confinement

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/netns"
)

// IsBaseVariable reports whether steps inherit a variable without a permission, if their permissions
// are enforced.
func IsBaseVariable(name string) bool {
	switch name {
	case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "NO_COLOR", "CI":
		return true
	}
	return strings.HasPrefix(name, "LC_")
}

// Means is what a program has to hold steps to their permissions.
type Means struct {
	Proxy  bool
	Helper string
}

// errNoEgress is for programs that embed flowrun without a proxy.
var errNoEgress = errors.New("this program has no proxy for the hosts in required-permissions: it does not set flowrun.Config.Egress")

// CheckGrants returns why the steps cannot be held to their Grants here: one reason for each kind of
// permission.
func (c Confinement) CheckGrants(m Means) (reasons []error) {
	for _, err := range []error{c.CheckSandbox(), c.CheckHosts(m)} {
		if err != nil {
			reasons = append(reasons, err)
		}
	}
	return reasons
}

// CheckSandbox returns why the kernel cannot limit the processes of the steps.
func (c Confinement) CheckSandbox() error {
	if !c.Sandboxed() {
		return nil
	}
	err := confine.Available()
	if err == nil {
		_, err = SandboxProgram()
	}
	if err != nil {
		return fmt.Errorf("cannot enforce required-permissions: %w", err)
	}
	return nil
}

// SandboxProgram returns the program that limits the files of enforced steps, "" if the kernel does.
func SandboxProgram() (program string, err error) {
	if err = confine.CheckSandbox(); err == nil || confine.CheckFilter() != nil {
		return "", err
	}
	program, missing := bubblewrap()
	if missing != nil {
		return "", fmt.Errorf("%w; and %w", err, missing)
	}
	return program, nil
}

// Sandboxed reports whether the kernel limits the processes of the steps; a container does so by
// itself.
func (c Confinement) Sandboxed() bool { return c.Enforced && c.Image == "" }

// LimitsHosts reports whether the steps may reach some hosts and no others.
func (c Confinement) LimitsHosts() bool {
	return c.Enforced && len(c.Grants.Hosts()) > 0 && !c.Grants.AllHosts()
}

// CheckHosts returns why the steps cannot be held to the hosts that they may reach.
func (c Confinement) CheckHosts(m Means) (err error) {
	switch {
	case !c.LimitsHosts(), c.Image != "" && !c.Network:
		return nil
	case c.Image != "":
		err = errors.New("a container has the whole network or none")
	case !m.Proxy:
		err = errNoEgress
	default:
		err = netns.Available(m.Helper)
	}
	if err != nil {
		return fmt.Errorf("cannot enforce %s: %w", c.Grants.Hosts()[0], err)
	}
	return nil
}
