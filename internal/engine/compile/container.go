package compile

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/engine/compile/check"
	"github.com/flowrun/flowrun/internal/engine/compile/texts"
	"github.com/flowrun/flowrun/internal/engine/container"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// container compiles the container of the step's command. It returns nil if it has none.
func containerOf(c *stepTexts) *container.Definition {
	def := c.step.Container
	if def == nil {
		return nil
	}
	c.Report(checkContainer(def, c.definition)...)
	k := &container.Definition{Image: def.Image, Pull: def.Pull, User: def.User, Network: def.Network, Entrypoint: def.Entrypoint}
	for i := range def.Mounts {
		m := &def.Mounts[i]
		if t := c.text(&m.Source, fmt.Sprintf("container.mounts[%d].source", i), expr.Plain); t != nil {
			k.Mounts = append(k.Mounts, container.Mount{Source: t, Target: m.Target, Writable: m.Writable})
		}
	}
	for _, s := range def.Services {
		k.Services = append(k.Services, service(c, s))
	}
	return k
}

func service(c *stepTexts, def *tool.Service) container.Service {
	key := "container.services." + def.Name
	s := container.Service{Name: def.Name, Image: def.Image, User: def.User}
	for i := range def.Arguments {
		if t := c.text(&def.Arguments[i], fmt.Sprintf("%s.arguments[%d]", key, i), expr.Plain); t != nil {
			s.Arguments = append(s.Arguments, t)
		}
	}
	for _, e := range def.Env {
		path := key + ".env." + e.Key
		t := c.text(e.Value.Text, path, expr.Plain)
		if t != nil && c.Accepts(texts.CheckVariable(c.names, e.Key, *e.Value.Text, c.key(path), t)) {
			s.Env = append(s.Env, container.Variable{Name: e.Key, Value: t})
		}
	}
	if h := def.Health; h != nil && h.Command.Pos.Line > 0 { // otherwise the decoder has reported it
		if t := c.text(&h.Command, key+".health.command", expr.Argv); t != nil {
			s.Health = &container.Health{Command: t, Interval: h.Interval, Timeout: h.Timeout, Retries: h.Retries}
		}
	}
	return s
}

// checkContainer checks what a container demands of a tool that refuses it.
func checkContainer(def *tool.Container, of *tool.Definition) (ds tool.Diagnostics) {
	sec, at := &of.Security, tool.Text{Pos: def.Pos}
	isolated := sec.Isolation == "container"
	if def.User != "" && (isolated || sec.Enforce || sec.ExecutionPrivilege == "reduced") {
		ds = append(ds, check.Errorf("restricted-container", at, "remove user, or the restriction in security", "container.user is not possible in a tool whose rights are restricted"))
	}
	if def.Network && (isolated || sec.Enforce) && !allowsHosts(of) {
		ds = append(ds, check.Errorf("restricted-container", at, "add network to security.required-permissions, or remove container.network", "container.network needs a permission for the network"))
	}
	return ds
}
