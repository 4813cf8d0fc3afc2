package confinement

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/flowrun/flowrun/internal/os/cgroup"
	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/netns"
)

// Mechanism is one means of this machine to confine steps.
type Mechanism struct {
	Name   string
	Detail string // what is there
	Err    error  // why flowrun cannot use it, or nil
}

// Mechanisms returns all means to confine steps, each looked at alone.
func Mechanisms() []Mechanism {
	ifUsable := func(name, detail string, err error) Mechanism {
		if err != nil {
			detail = ""
		}
		return Mechanism{name, detail, err}
	}
	landlock := Mechanism{Name: "Landlock"}
	landlock.Detail, landlock.Err = confine.Landlock()
	wrap := Mechanism{Name: "bubblewrap"}
	wrap.Detail, wrap.Err = bubblewrap()
	containers := Mechanism{Name: "containers"}
	containers.Detail, containers.Err = ContainerProgram(os.Getenv("PATH"))
	return []Mechanism{landlock, ifUsable("seccomp", "filters system calls", confine.CheckFilter()),
		ifUsable("network namespaces", "can be made", netns.Available("")), cgroups(), wrap, containers}
}

func cgroups() Mechanism {
	var there []string
	var missing []error
	for _, c := range []struct {
		controller string
		limit      cgroup.Limits
	}{{"memory", cgroup.Limits{Memory: 1}}, {"pids", cgroup.Limits{Processes: 1}}, {"cpu", cgroup.Limits{CPU: 1}}} {
		if err := cgroup.CanLimit(c.limit); err != nil {
			missing = append(missing, fmt.Errorf("%s: %w", c.controller, err))
			continue
		}
		there = append(there, c.controller)
	}
	return Mechanism{"cgroups", strings.Join(there, ", "), errors.Join(missing...)}
}
