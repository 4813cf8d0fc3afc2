package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/remote"
	"github.com/flowrun/flowrun/internal/engine/sshcommand"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// remote compiles the account on another machine in which the step runs. nil: it runs on this machine.
func (c *stepCompiler) remote() *remote.Account {
	s := c.step.SSH
	if s == nil {
		return nil
	}
	c.checkRemote(s)
	r := &remote.Account{Timeout: s.ConnectTimeout,
		Grants: func(f remote.Frame) permission.Grants { return call.Grants(call.FrameOf(f)) }}
	for _, one := range []struct {
		at    *tool.Text
		key   string
		to    **expr.Template
		check func(string) error
	}{{&s.Host, "host", &r.Host, sshcommand.CheckHost}, {s.User, "user", &r.User, sshcommand.CheckUser}, {s.Port, "port", &r.Port, sshcommand.CheckPort},
		{s.Jump, "jump", &r.Jump, sshcommand.CheckJump}, {s.Key, "key", &r.Key, nil},
		{s.KeyFile, "key-file", &r.KeyFile, sshcommand.CheckPath}, {s.KnownHosts, "known-hosts", &r.KnownHosts, sshcommand.CheckPath}} {
		t := c.text(one.at, "ssh."+one.key, expr.Plain, c.names)
		*one.to = t
		if t == nil || one.check == nil || !t.Static() {
			continue
		}
		text, err := t.Text(nil)
		if err == nil {
			err = one.check(text)
		}
		if err != nil && one.at.Pos.Line > 0 { // otherwise the decoder has reported that it is missing
			c.sshProblem(*one.at, one.key, "bad-address", err.Error(), "")
		}
	}
	c.checkKey(s, r)
	if r.Host != nil && r.Host.Static() {
		c.warnNotPermitted(s.Host, "ssh.host", s.Host.S)
	}
	r.HostChosen = c.hostChosen(s.Host, "host", r.Host)
	if s.Jump != nil && c.hostChosen(*s.Jump, "jump", r.Jump) {
		r.HostChosen = true
	}
	return r
}

// checkRemoteShell reports a script that a step cannot run on another machine.
func (c *stepCompiler) checkRemoteShell(key, shell string) {
	if c.account == nil {
		return
	}
	if sh, known := expr.ShellByName(shell); !known || sh != expr.Bash && sh != expr.Sh {
		c.report(tool.Diagnostic{Code: "no-effect", Severity: tool.Error, Pos: c.step.SSH.Pos, Len: 1, Path: c.key(key),
			Message: "only scripts of bash and sh can run over ssh", Hint: "write the command under bash or sh"})
	}
}

func (c *stepCompiler) sshProblem(at tool.Text, key, code, message, hint string) {
	c.report(tool.Diagnostic{Code: code, Severity: tool.Error, Pos: at.Pos, Len: max(1, len([]rune(at.S))), Path: c.key("ssh." + key), Message: message, Hint: hint})
}

// checkKey reports a private key in the definition, where everybody can read it.
func (c *stepCompiler) checkKey(s *tool.SSH, r *remote.Account) {
	if r.Key != nil && r.Key.Static() {
		c.sshProblem(*s.Key, "key", "unknown-secret", "the private key is in the definition", "pass it as a secret, such as {env.DEPLOY_KEY}, or use key-file")
	}
}

// checkRemote reports what a step that runs on another machine cannot have.
func (c *stepCompiler) checkRemote(s *tool.SSH) {
	fail := func(key, message, hint string) {
		c.report(tool.Diagnostic{Code: "no-effect", Severity: tool.Error, Pos: s.Pos, Len: 1, Path: c.key(key), Message: message, Hint: hint})
	}
	def := c.plan.Definition
	for _, one := range []struct {
		bad                bool
		key, message, hint string
	}{
		{c.interactiveSettings != nil, "interactive", "a step that runs over ssh cannot be interactive", "remove interactive"},
		{c.step.Detach, "detach", "detach has no effect on a step that runs over ssh: its processes end with it", "remove detach; start a service with the service manager of the other machine"},
		{len(c.step.Artifacts) > 0, "artifacts", "a step that runs over ssh has no artifacts: its files are on the other machine", "print the content, or fetch the files in a step of their own"},
		{c.step.Container != nil, "container", "container is not possible for a step that runs over ssh: the container would be on this machine", "remove container or ssh, or run the container from the script"},
		{def.Security.Isolation == "container", "ssh", "isolation: container is not possible for a step that runs over ssh", "remove isolation, or move the step to a tool of its own"},
		{def.Security.ExecutionPrivilege == "reduced", "ssh", "execution-privilege: reduced is not possible for a step that runs over ssh", "remove execution-privilege, and use an account with fewer rights"},
	} {
		if one.bad {
			fail(one.key, one.message, one.hint)
		}
	}
}

// hostChosen reports whether somebody other than the author of the definition may choose a host. It reports an error if the
// tool has no permissions for that.
func (c *stepCompiler) hostChosen(at tool.Text, key string, t *expr.Template) bool {
	if t == nil {
		return false
	}
	for _, ref := range t.Refs() {
		if !c.names.callerDecides(c.plan.Definition, ref) {
			continue
		}
		if !c.allowsHosts() {
			c.report(tool.Diagnostic{Code: "bad-address", Severity: tool.Error, Pos: at.At(ref.Off), Len: ref.Len, Path: c.key("ssh." + key),
				Message: fmt.Sprintf("%s chooses the host of the connection, but required-permissions allows no host", ref),
				Hint:    "write the host as fixed text, or add network:external:HOST to security.required-permissions; network allows every host"})
		}
		return true
	}
	return false
}

// allowsHosts reports whether the permissions of the tool allow any host.
func (c *stepCompiler) allowsHosts() bool {
	return slices.ContainsFunc(c.plan.Definition.Security.RequiredPermissions, func(p tool.Text) bool {
		return p.S == "network" || strings.HasPrefix(p.S, "network:") || strings.HasPrefix(p.S, "{")
	})
}
