package container

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// Definition describes the container of one command, with the services beside it. It is immutable.
type Definition struct {
	Image      string
	Pull       string // "": a missing image is downloaded
	User       string // "": the user of this process
	Network    bool
	Entrypoint bool // the words of the command are arguments of the image's own entry point
	Mounts     []Mount
	Services   []Service
}

// Mount is a file or folder of this machine in a container.
type Mount struct {
	Source   *expr.Template
	Target   string
	Writable bool
}

// Service is a container beside that of a command.
type Service struct {
	Name      string // its host name
	Image     string
	Arguments []*expr.Template // of the image's entry point; none: those of the image
	Env       []Variable
	User      string // "": that of the image
	Health    *Health
}

// Variable is a variable of the environment of a service.
type Variable struct {
	Name  string
	Value *expr.Template
}

// Health says how to find out that a service is ready.
type Health struct {
	Command           *expr.Template // words
	Interval, Timeout time.Duration
	Retries           int
}

// Within returns the confinement of a command with a container of its own, which has no right that c takes away. It
// returns c if k is nil.
func (k *Definition) Within(c confinement.Confinement) confinement.Confinement {
	if k == nil {
		return c
	}
	c.Image, c.Network = k.Image, k.Network && c.GrantsNetwork()
	return c
}

// Refused returns why a container cannot be as its definition demands: one reason for each demand that c refuses.
func (k *Definition) Refused(c confinement.Confinement) (reasons []error) {
	if k.Network && !c.GrantsNetwork() {
		reasons = append(reasons, errors.New("container.network needs a permission: add network to security.required-permissions"))
	}
	if k.User != "" && c.Restricts() {
		reasons = append(reasons, errors.New("container.user is not possible in a tool whose rights are restricted: remove it"))
	}
	return reasons
}

// applyContainer adds what the definition says about the container of the command.
func (t *Runner) applyContainer(c *container) error {
	k := t.Definition
	if k == nil {
		return nil
	}
	for _, why := range k.Refused(t.Tool) {
		return place.CannotStart(126, "cannot start the step: %v", why)
	}
	c.guest, c.pull, c.asIs = k.User, k.Pull, k.Entrypoint
	for _, m := range k.Mounts {
		value, err := t.mount(c, m)
		if err != nil {
			return err
		}
		c.mounts = append(c.mounts, value)
	}
	if list := t.services.list; len(list) > 0 {
		c.joined = list[0].name
		c.mounts = append(c.mounts, t.services.hostsMount())
	}
	return nil
}

// mount returns the value of --mount for what a step mounts. A restricted tool can mount only what it may use anyway.
func (t *Runner) mount(c *container, m Mount) (string, error) {
	text, err := m.Source.Text(t.Scope)
	if err != nil {
		return "", place.BadInput(fmt.Errorf("cannot use container.mounts: %w", err))
	}
	if text == "" {
		return "", place.BadInput(fmt.Errorf("cannot use container.mounts: the source of %s is empty", m.Target))
	}
	source := t.Resolve(text)
	if !isThere(source) {
		return "", place.CannotStart(126, "cannot start the step: %s, which container.mounts has, does not exist; create it first", source)
	}
	source = permission.RealPath(source) // a link in an allowed folder must not lead out of it
	may := c.writable
	if !m.Writable {
		may = slices.Concat(may, c.granted)
	}
	if t.Tool.Restricts() && !slices.ContainsFunc(may, func(up string) bool { return within(source, permission.RealPath(up)) }) {
		kind, key := "read", "filesystem:read:"
		if m.Writable {
			kind, key = "change", "filesystem:write:"
		}
		why := fmt.Sprintf("this tool is restricted and may not %s %s, which container.mounts has", kind, source)
		if t.Confine.Enforced {
			why += fmt.Sprintf("; add %s%s to security.required-permissions", key, source)
		}
		return "", place.CannotStart(126, "cannot start the step: %s", why)
	}
	if m.Writable {
		return mountAt(source, m.Target), nil
	}
	return mountAt(source, m.Target, "readonly"), nil
}

// imageKey returns the key of a definition that names the image of the command.
func (t *Runner) imageKey() string {
	if t.Definition != nil {
		return "container.image"
	}
	return "security.image"
}

// Sweep removes the containers that killed processes of flowrun left. Their processes were
// ended when the run began, but their container programs keep a record and their files. An error does not matter: the next
// run tries again.
func (t *Runner) Sweep(ctx context.Context) {
	program, err := t.findContainerProgram()
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, removeBound)
	defer cancel()
	for range maxSweeps {
		_, out, _ := t.askProgram(ctx, program, "ps", "--all", "--filter", "label=flowrun.run", "--format", "{{.Names}}")
		names := slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool { return !abandonedContainer(name, t.Host.Domain()) })
		if len(names) == 0 {
			return
		}
		_, _, _ = t.askProgram(ctx, program, append([]string{"rm", "--force"}, names...)...)
	}
}

// maxSweeps is how often Sweep tries: podman removes a container whose monitor was killed at the second attempt,
// and one whose network others use only after those.
const maxSweeps = 5

// Words returns everything that determines what the container of a command contains. It contains secrets.
func (k *Definition) Words(scope expr.Scope) (list []string, err error) {
	if k == nil {
		return nil, nil
	}
	text := func(t *expr.Template) {
		value, bad := t.Text(scope)
		list, err = append(list, value), errors.Join(err, bad)
	}
	list = []string{k.Image, k.User, fmt.Sprint(k.Network, k.Entrypoint)}
	for _, m := range k.Mounts {
		list = append(list, "mount", m.Target, fmt.Sprint(m.Writable))
		text(m.Source)
	}
	for _, s := range k.Services {
		list = append(list, "service", s.Name, s.Image, s.User, fmt.Sprint(len(s.Arguments)))
		for _, a := range s.Arguments {
			text(a)
		}
		list = append(list, "env")
		for _, v := range s.Env {
			list = append(list, v.Name)
			text(v.Value)
		}
	}
	return list, err
}
