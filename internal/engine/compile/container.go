package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/container"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// container compiles the container of the step's command. It returns nil if it has none.
func (c *stepCompiler) container() *container.Definition {
	def := c.step.Container
	if def == nil {
		return nil
	}
	c.checkContainer(def)
	k := &container.Definition{Image: def.Image, Pull: def.Pull, User: def.User, Network: def.Network, Entrypoint: def.Entrypoint}
	for i := range def.Mounts {
		m := &def.Mounts[i]
		if t := c.text(&m.Source, fmt.Sprintf("container.mounts[%d].source", i), expr.Plain, c.names); t != nil {
			k.Mounts = append(k.Mounts, container.Mount{Source: t, Target: m.Target, Writable: m.Writable})
		}
	}
	for _, s := range def.Services {
		k.Services = append(k.Services, c.service(s))
	}
	return k
}

func (c *stepCompiler) service(def *tool.Service) container.Service {
	key := "container.services." + def.Name
	s := container.Service{Name: def.Name, Image: def.Image, User: def.User}
	for i := range def.Arguments {
		if t := c.text(&def.Arguments[i], fmt.Sprintf("%s.arguments[%d]", key, i), expr.Plain, c.names); t != nil {
			s.Arguments = append(s.Arguments, t)
		}
	}
	for _, e := range def.Env {
		path := key + ".env." + e.Key
		t := c.text(e.Value.Text, path, expr.Plain, c.names)
		if t != nil && c.checkVariable(c.plan.Definition, c.names, e.Key, *e.Value.Text, c.key(path), t) {
			s.Env = append(s.Env, container.Variable{Name: e.Key, Value: t})
		}
	}
	if h := def.Health; h != nil && h.Command.Pos.Line > 0 { // otherwise the decoder has reported it
		if t := c.text(&h.Command, key+".health.command", expr.Argv, c.names); t != nil {
			s.Health = &container.Health{Command: t, Interval: h.Interval, Timeout: h.Timeout, Retries: h.Retries}
		}
	}
	return s
}

// checkContainer reports demands that the definition itself refuses.
func (c *stepCompiler) checkContainer(def *tool.Container) {
	sec := &c.plan.Definition.Security
	isolated := sec.Isolation == "container"
	if def.User != "" && (isolated || sec.Enforce || sec.ExecutionPrivilege == "reduced") {
		c.errorf("restricted-container", tool.Text{Pos: def.Pos}, "remove user, or the restriction in security", "container.user is not possible in a tool whose rights are restricted")
	}
	if def.Network && (isolated || sec.Enforce) && !slices.ContainsFunc(sec.RequiredPermissions, func(p tool.Text) bool {
		return p.S == "network" || strings.HasPrefix(p.S, "network:") || strings.HasPrefix(p.S, "{")
	}) {
		c.errorf("restricted-container", tool.Text{Pos: def.Pos}, "add network to security.required-permissions, or remove container.network", "container.network needs a permission for the network")
	}
}
