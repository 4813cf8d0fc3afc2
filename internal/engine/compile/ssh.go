package compile

import (
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/remote"
	"github.com/flowrun/flowrun/internal/engine/sshcommand"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// remote compiles the account on another machine in which the step runs. nil: it runs on this machine.
func remoteAccount(c *stepTexts, interactive bool) *remote.Account {
	s := c.step.SSH
	if s == nil {
		return nil
	}
	c.Report(checkRemote(s, c.step, c.definition, interactive, c.key)...)
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
		t := c.text(one.at, "ssh."+one.key, expr.Plain)
		*one.to = t
		if one.check == nil {
			continue
		}
		if err := checkKnown(t, one.check); err != nil && one.at.Pos.Line > 0 { // otherwise the decoder has reported that it is missing
			c.problem(*one.at, "ssh."+one.key, "bad-address", tool.Error, err.Error(), "")
		}
	}
	if r.Key != nil && r.Key.Static() { // everybody can read it
		c.problem(*s.Key, "ssh.key", "unknown-secret", tool.Error, "the private key is in the definition", "pass it as a secret, such as {env.DEPLOY_KEY}, or use key-file")
	}
	if r.Host != nil && r.Host.Static() {
		warnNotPermitted(c, s.Host, "ssh.host", s.Host.S)
	}
	if r.Host != nil && hostChosen(c, s.Host, "ssh.host", "connection", r.Host.Refs()) {
		r.HostChosen = true
	}
	if r.Jump != nil && hostChosen(c, *s.Jump, "ssh.jump", "connection", r.Jump.Refs()) {
		r.HostChosen = true
	}
	return r
}

// remoteShell reports whether a step can run a script for the shell on another machine.
func remoteShell(shell string) bool {
	sh, known := expr.ShellByName(shell)
	return known && (sh == expr.Bash || sh == expr.Sh)
}

// checkRemote reports what a step that runs on another machine cannot have.
func checkRemote(s *tool.SSH, step *tool.Step, def *tool.Definition, interactive bool, key func(string) string) (ds tool.Diagnostics) {
	for _, one := range []struct {
		bad                bool
		key, message, hint string
	}{
		{interactive, "interactive", "a step that runs over ssh cannot be interactive", "remove interactive"},
		{step.Detach, "detach", "detach has no effect on a step that runs over ssh: its processes end with it", "remove detach; start a service with the service manager of the other machine"},
		{len(step.Artifacts) > 0, "artifacts", "a step that runs over ssh has no artifacts: its files are on the other machine", "print the content, or fetch the files in a step of their own"},
		{step.Container != nil, "container", "container is not possible for a step that runs over ssh: the container would be on this machine", "remove container or ssh, or run the container from the script"},
		{def.Security.Isolation == "container", "ssh", "isolation: container is not possible for a step that runs over ssh", "remove isolation, or move the step to a tool of its own"},
		{def.Security.ExecutionPrivilege == "reduced", "ssh", "execution-privilege: reduced is not possible for a step that runs over ssh", "remove execution-privilege, and use an account with fewer rights"},
	} {
		if one.bad {
			ds = append(ds, tool.Diagnostic{Code: "no-effect", Severity: tool.Error, Pos: s.Pos, Len: 1, Path: key(one.key), Message: one.message, Hint: one.hint})
		}
	}
	return ds
}
