package enginetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/test/sshdtest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestSSHShared: steps of a run that use one account log in twice, however many they are.
func TestSSHShared(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t)
	b := newBed(t)
	text := "parameters: {KEY: {description: d}}\nenvironment: {secrets: [KEY]}\nsteps:\n"
	for i := range 3 {
		text += fmt.Sprintf("  - {name: s%d, %soutputs: {n: integer}, bash: 'echo out%[1]d; echo err >&2; echo n=%[1]d >>\"$FLOWRUN_OUTPUT\"; cat', input: 'in'}\n", i, onServer)
	}
	text += "  - {name: fails, continue-on-error: true, " + onServer + "bash: 'exit 7'}\n"
	text += "  - {name: stranger, continue-on-error: true, ssh: {host: 127.0.0.1, port: " + server.Port + ", user: " + server.User + ", key: '{KEY}', known-hosts: " + server.KnownHosts + "}, sh: 'true'}\n"
	other := filepath.Join(t.TempDir(), "key")
	sshdtest.NewKey(t, other)
	key, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	res, err := engine.New(b.config).Run(context.Background(), b.compile(onSSH(server, text)), map[string]any{"KEY": string(key)}, engine.WithRunEnv(b.world))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		s := res.Step(fmt.Sprint("s", i))
		if s.Status != dag.Succeeded || s.Output != fmt.Sprintf("out%d\nin", i) || s.Error != "err\n" || fmt.Sprint(s.Outputs["n"]) != fmt.Sprint(i) {
			t.Errorf("step %d: %s %q %q %v: %s", i, s.Status, s.Output, s.Error, s.Outputs, s.Message)
		}
	}
	if s := res.Step("fails"); s.ExitCode != 7 {
		t.Errorf("the exit code is %d: %s", s.ExitCode, s.Message)
	}
	if s := res.Step("stranger"); s.Status != dag.Failed || !strings.Contains(s.Message, "Permission denied") {
		t.Errorf("another key uses the connection: %s %s", s.Status, s.Message)
	}
	if n := server.Connections(); n != 3 { // that of the first step, the shared one, and that of the other key
		t.Errorf("%d connections", n)
	}
	if slices.ContainsFunc(res.Notices, func(n dag.Notice) bool { return n.Code != notice.Tolerated }) {
		t.Errorf("notices: %+v", res.Notices)
	}
	noLeftovers(t, server)
}

// TestSSHSharedLimit: where a server allows fewer sessions than steps run at once, the others connect on their own.
func TestSSHSharedLimit(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t, "MaxSessions 1")
	// The first three run at the same time: one has a connection of its own, and two want the shared one.
	res := newBed(t).run(context.Background(), onSSH(server, "steps:\n  - name: all\n    for-each: {items: [1, 2, 3, 4], max-parallel: 3}\n    ssh: {${SSH}}\n"+
		"    bash: touch ${DIR}/began-{item}; until [ \"$(ls ${DIR} | grep -c began-)\" -ge 3 ]; do sleep 0.05; done\n"), nil)
	if s := res.Step("all"); s.Status != dag.Succeeded {
		t.Errorf("%s: %s", s.Status, s.Message)
	}
	if server.Connections() < 3 {
		t.Errorf("%d connections", server.Connections())
	}
	noLeftovers(t, server)
}

// TestSSHSharedLost: a shared connection that is lost fails the step that uses it, and the next step opens another.
func TestSSHSharedLost(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t)
	b := newBed(t)
	b.config.StateDir = t.TempDir()
	// What has come back over the connection tells that it was there: a file on the other machine would not.
	began := func() bool {
		logs, _ := filepath.Glob(filepath.Join(b.config.StateDir, "runs/*/logs/*"))
		return slices.ContainsFunc(logs, func(log string) bool {
			text, _ := os.ReadFile(log)
			return strings.Contains(string(text), "began\n")
		})
	}
	go func() {
		if !waittest.Holds(waittest.Limit, began) {
			t.Error("step c has not begun")
		}
		server.Cut()
	}()
	text := "steps:\n  - {name: a, " + onServer + "sh: 'true'}\n  - {name: b, " + onServer + "sh: 'true'}\n" +
		"  - {name: c, continue-on-error: true, " + onServer + "sh: 'echo began >&2; sleep 600'}\n" +
		"  - {name: d, " + onServer + "sh: echo d}\n  - {name: e, " + onServer + "sh: echo e}\n"
	res := b.run(context.Background(), onSSH(server, text), nil)
	if s := res.Step("c"); s.Reason != "ssh-connection" || !strings.Contains(s.Message, "the connection to the other machine was lost; the script was ended there") {
		t.Errorf("c: %s %s: %s", s.Status, s.Reason, s.Message)
	}
	if res.Status != dag.Succeeded || res.Output != "e\n" || server.Connections() > 2 { // the client may not have ended yet when d starts
		t.Errorf("%s: %q, %d connections after the loss", res.Status, res.Output, server.Connections())
	}
	noLeftovers(t, server)
}
