package enginetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/test/sshdtest"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"github.com/flowrun/flowrun/library"
)

// sshCase is a step on another machine. ${SSH} in step stands for the keys of ssh without braces.
type sshCase struct {
	step   string
	top    string // keys of the tool
	params map[string]any
	server func(t *testing.T, s *sshdtest.Server)
	during func(t *testing.T, s *sshdtest.Server) // while the step runs
}

const onServer = "ssh: {${SSH}}, "

var sshCases = map[string]sshCase{
	"prints and ends with 0":                      {step: onServer + `sh: "echo out; echo err >&2"`},
	"ends with 3":                                 {step: onServer + `sh: "exit 3"`},
	"ends with 255":                               {step: onServer + `sh: "exit 255"`},
	"is ended by signal 9":                        {step: onServer + `sh: "kill -9 $$"`},
	"runs a program that does not exist":          {step: onServer + `sh: "no-such-program"`},
	"has a working directory that does not exist": {step: onServer + `working-directory: /no-such-folder, sh: "true"`},
	"wrote a declared output":                     {step: onServer + declaresV + writes("v=1") + `"`},
	"did not write a declared output":             {step: onServer + declaresV + `bash: "true"`},
	"exceeds its timeout":                         {step: onServer + `timeout: 3s, sh: "sleep 600"`},
	"leaves a process in the background":          {step: onServer + `sh: "sleep 600 & echo"`},
	"loses its connection": {step: onServer + `sh: "touch ${DIR}/began; sleep 600"`, during: func(t *testing.T, s *sshdtest.Server) {
		waitFor(t, filepath.Join(s.Dir(), "began"))
		s.Cut()
	}},
	"connects to a port that refuses connections": {step: `ssh: {host: 127.0.0.1, port: 1, user: x}, sh: "true"`},
	"connects to a host that does not respond":    {step: `ssh: {host: 192.0.2.1, connect-timeout: 1s}, sh: "true"`},
	"connects to a host whose key is not known": {step: onServer + `sh: "true"`, server: func(t *testing.T, s *sshdtest.Server) {
		if err := os.WriteFile(s.KnownHosts, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}},
	"connects to a host whose key has changed": {step: onServer + `sh: "true"`, server: func(t *testing.T, s *sshdtest.Server) { s.TrustKey(t, "user_key.pub") }},
	"has a key that the host does not accept": {step: onServer + `sh: "true"`, server: func(t *testing.T, s *sshdtest.Server) {
		if err := os.WriteFile(filepath.Join(s.Dir(), "authorized_keys"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}},
	"has a key that is not a private key": {step: `ssh: {host: 127.0.0.1, key: "{KEY}"}, sh: "true"`, top: "parameters: {KEY: {description: d}}\n", params: map[string]any{"KEY": "secret"}},
	"has a key file that does not exist":  {step: `ssh: {host: 127.0.0.1, key-file: no-such-file}, sh: "true"`},
	"gets a value with `-` at its start as host": {step: `ssh: {host: "{HOST}"}, sh: "true"`, top: "parameters: {HOST: {description: d}}\nsecurity: {required-permissions: [network]}\n",
		params: map[string]any{"HOST": "-oProxyCommand=touch${IFS}x"}},
	"gets a host that its permissions do not allow": {step: `ssh: {host: "{HOST}"}, sh: "true"`, top: "parameters: {HOST: {description: d}}\nsecurity: {required-permissions: ['network:external:example.org']}\n",
		params: map[string]any{"HOST": "127.0.0.1"}},
	"failed to connect, and connected in its next attempt": {step: "error-handling: {retry: {attempts: 200, delay: 100ms, backoff: constant}}, " + onServer + `sh: "true"`, server: func(t *testing.T, s *sshdtest.Server) {
		if err := os.Rename(s.KnownHosts, s.KnownHosts+".later"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.KnownHosts, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}, during: func(t *testing.T, s *sshdtest.Server) {
		if !waittest.Holds(waittest.Limit, func() bool { return s.Connections() >= 2 }) { // the second attempt begins after the first has failed
			t.Error("no second attempt")
		}
		if err := os.Rename(s.KnownHosts+".later", s.KnownHosts); err != nil {
			t.Error(err)
		}
	}},
}

// onSSH replaces ${SSH} and ${DIR} in a definition.
func onSSH(s *sshdtest.Server, text string) string {
	return strings.NewReplacer("${SSH}", strings.Trim(s.YAML(), "{}"), "${DIR}", s.Dir()).Replace(text)
}

// TestSSHPage runs every row of the table in docs/reference/ssh.md on a server.
func TestSSHPage(t *testing.T) {
	t.Parallel()
	rows := 0
	for _, cells := range tableRows(t, "docs/reference/ssh.md", "| step `a` |") {
		c, ok := sshCases[cells[0]]
		if !ok {
			t.Errorf("the row %q has no case", cells[0])
			continue
		}
		rows++
		t.Run(cells[0], func(t *testing.T) {
			t.Parallel()
			b, step, server := newBed(t), c.step, (*sshdtest.Server)(nil)
			if strings.HasPrefix(step, onServer) || c.server != nil {
				server = sshdtest.Start(t)
				step = onSSH(server, step)
			}
			if c.server != nil {
				c.server(t, server)
			}
			b.config.Grace = 5 * time.Second
			done := make(chan struct{})
			go func() {
				defer close(done)
				if c.during != nil {
					c.during(t, server)
				}
			}()
			p := b.compile(c.top + "steps:\n  - {name: a, " + step + "}\n")
			res, err := engine.New(b.config).Run(context.Background(), p, c.params, engine.WithRunEnv(b.world))
			<-done
			if err != nil {
				t.Fatal(err)
			}
			a := res.Step("a")
			got := []string{cells[0], a.Status.String(), a.Reason, fmt.Sprint(a.ExitCode)}
			if diff := cmp.Diff(cells, got); diff != "" {
				t.Errorf("%s\n%s", diff, a.Message)
			}
			if server != nil {
				noLeftovers(t, server)
			}
		})
	}
	if rows != len(sshCases) {
		t.Errorf("%d rows, want %d", rows, len(sshCases))
	}
}

// noLeftovers waits until sessions have removed their files: after a cut connection nobody says when.
func noLeftovers(t *testing.T, s *sshdtest.Server) {
	t.Helper()
	var names []string
	waittest.Until(t, "the end of all files of sessions", func() bool { names = s.Leftovers(t); return len(names) == 0 }, func() any { return names })
}

// TestSSHValues: values are data on the other machine.
func TestSSHValues(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t)
	var binary []byte
	for i := 1; i < 256; i++ {
		binary = append(binary, byte(i))
	}
	values := []string{"$(touch PWN)", "`touch PWN`", `"; touch PWN; "`, `'; touch PWN; '`, "a[$(touch PWN)]", "x\nEND\ntouch PWN\n", "${x:=$(touch PWN)}",
		"x; touch PWN #", "<(touch PWN)", "x && touch PWN || touch PWN", "", "\\", "'", "é😀", "a\r\nb", strings.Repeat("x'$(touch PWN)\n", 8000), string(binary[:127]), "-rf x", "--"}
	work := t.TempDir()
	head, environment, input, script, params := "parameters:\n", "", "", "", map[string]any{}
	for i, v := range values {
		x := fmt.Sprint("X", i)
		params[x] = v
		head += "  " + x + ": {description: d}\n"
		environment += fmt.Sprintf("      E%d: '{%s}'\n", i, x)
		input += "{" + x + "}"
		script += strings.NewReplacer("X", x, "I", fmt.Sprint(i)).Replace("      v={X}; printf '%s' \"$v\" >I-value\n      printf '%s' '{X}' >I-quoted\n      printf '%s' \"$EI\" >I-variable\n      cat <<END >I-here\n      {X}\n      END\n")
	}
	text := head + "steps:\n  - name: a\n    ssh: " + server.YAML() + "\n    working-directory: " + work + "\n    environment:\n" + environment + "    input: '" + input + "'\n" +
		"    bash: |\n      set -eu\n      export LC_ALL=C\n      cat >input\n" + script
	b := newBed(t)
	world := b.world
	world.AllowDash = true
	res, err := engine.New(b.config).Run(context.Background(), b.compile(text), params, engine.WithRunEnv(world))
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != dag.Succeeded {
		t.Fatalf("%s %.300s", res.Status, res.Step("a").Message)
	}
	want := map[string]string{"input": strings.Join(values, "")}
	for i, v := range values {
		for _, way := range []string{"value", "quoted", "variable"} {
			want[fmt.Sprint(i, "-", way)] = v
		}
		want[fmt.Sprint(i, "-here")] = v + "\n"
	}
	got := map[string]string{} // a file PWN is one more than there should be
	for _, name := range filesIn(t, work) {
		got[name] = textOf(t, filepath.Join(work, name))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%.3000s", diff)
	}
	noLeftovers(t, server)
}

// TestSSHStop: cancelling a run ends all processes on the other machine, also those that ignore TERM or have left the
// session, whether the step has a connection of its own or shares one with the steps before it.
func TestSSHStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before      string
		connections int
	}{
		"own connection":    {"", 1},
		"shared connection": {"  - {name: before, " + onServer + "sh: 'true'}\n", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stopOnSSH(t, c.before, c.connections)
		})
	}
}

func stopOnSSH(t *testing.T, before string, connections int) {
	server := sshdtest.Start(t)
	b := newBed(t)
	b.config.Grace = time.Second
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		waitFor(t, filepath.Join(server.Dir(), "began"))
		cancel()
	}()
	p := b.compile(onSSH(server, "steps:\n"+before+"  - {name: a, "+onServer+`bash: "trap '' TERM; setsid sleep 601 & echo $! >${DIR}/other; echo $$ >${DIR}/own; touch ${DIR}/began; while :; do sleep 602; done"}`) + "\n")
	res, err := engine.New(b.config).Run(ctx, p, nil, engine.WithRunEnv(b.world))
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != dag.Cancelled || server.Connections() != connections {
		t.Error(res.Status, res.Message, server.Connections())
	}
	for _, name := range []string{"own", "other"} {
		pid, err := os.ReadFile(filepath.Join(server.Dir(), name))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat"); err == nil && !strings.Contains(string(text), ") Z ") {
			t.Errorf("process %s still runs: %s", name, text)
		}
	}
	noLeftovers(t, server)
}

// TestSSHRolloutExample deploys to three servers, with an approval after the first.
func TestSSHRolloutExample(t *testing.T) {
	t.Parallel()
	var servers []*sshdtest.Server
	var list []any
	known := ""
	dir := t.TempDir()
	for range 3 {
		s := sshdtest.Start(t)
		line, err := os.ReadFile(s.KnownHosts)
		if err != nil {
			t.Fatal(err)
		}
		known += string(line)
		if len(servers) > 0 { // all accept the key of the first
			key, err := os.ReadFile(servers[0].KeyFile + ".pub")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(s.Dir(), "authorized_keys"), key, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		servers = append(servers, s)
		list = append(list, map[string]any{"host": "127.0.0.1", "port": s.Port})
	}
	if err := os.WriteFile(filepath.Join(dir, "known_hosts"), []byte(known), 0o600); err != nil {
		t.Fatal(err)
	}
	deployed := func() (n int) {
		for _, s := range servers {
			if text, err := os.ReadFile(filepath.Join(dir, "app-"+s.Port, "VERSION")); err == nil && string(text) == "1 'x' $(touch PWN)\n" {
				n++
			}
		}
		return n
	}
	for _, approve := range []bool{false, true} {
		file, err := filepath.Abs("examples/ssh-rollout.yaml")
		if err != nil {
			t.Fatal(err)
		}
		p, err := engine.Compile(library.New(library.Config{WorkingDirectory: dir, Home: dir}), file)
		if err != nil {
			t.Fatal(err)
		}
		atQuestion := 0
		res, err := engine.New(engine.Config{}).Run(context.Background(), p, map[string]any{"VERSION": "1 'x' $(touch PWN)", "SERVERS": list, "LOGIN": servers[0].User,
			"KEY_FILE": servers[0].KeyFile, "KNOWN_HOSTS": filepath.Join(dir, "known_hosts"), "FOLDER": filepath.Join(dir, "app")},
			engine.WithRunEnv(engine.RunEnv{Workspace: dir, Home: dir, Temp: dir}), engine.WithApproval(func(context.Context, history.Question) (history.Answer, error) {
				atQuestion = deployed()
				return history.Answer{Approve: approve, By: "ann"}, nil
			}))
		if err != nil {
			t.Fatal(err)
		}
		want := map[bool]int{false: 1, true: 3}[approve]
		if (res.Status == dag.Succeeded) != approve || atQuestion != 1 || deployed() != want {
			t.Errorf("%s: %d at the question, %d at the end: %s %s", res.Status, atQuestion, deployed(), res.Message, res.Step("canary").Message)
		}
	}
	for _, s := range servers {
		noLeftovers(t, s)
	}
}

// TestSSHSecrets: a key in a secret works, and nothing shows it or another secret.
func TestSSHSecrets(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t)
	key, err := os.ReadFile(server.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	b := newBed(t)
	b.world.Env = append(b.world.Env, "PATH="+os.Getenv("PATH"), "DEPLOY_KEY="+strings.TrimSpace(string(key)), "TOKEN=hidden-value-7")
	res := b.run(context.Background(), fmt.Sprintf("environment: {secrets: [DEPLOY_KEY, TOKEN]}\nsteps:\n  - name: a\n    ssh: {host: 127.0.0.1, port: %s, user: %q, key: '{env.DEPLOY_KEY}', known-hosts: %q}\n"+
		"    bash: |\n      printf '%%s' {env.TOKEN} | wc -c\n      cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c '[h]idden-value' || true\n", server.Port, server.User, server.KnownHosts), nil)
	if a := res.Step("a"); res.Status != dag.Succeeded || strings.Join(strings.Fields(a.Output), " ") != "14 0" {
		t.Errorf("%s %s %q", res.Status, a.Message, a.Output)
	}
}
