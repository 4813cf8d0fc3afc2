package attack

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/netns"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// needNamespace skips a test where steps cannot have a network of their own.
func needNamespace(t *testing.T) {
	t.Helper()
	if err := confine.CheckSandbox(); err != nil {
		t.Skip(err)
	}
	if err := netns.Available(program); err != nil {
		t.Skip(err)
	}
}

// inNamespace returns the processes whose network namespace is this one, such as net:[4026532000].
func inNamespace(namespace string) (list []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/ns/net")
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == namespace {
			list = append(list, filepath.Dir(filepath.Dir(link)))
		}
	}
	return list
}

// TestKilledWithNamespace: when flowrun is killed while a step is in a network of its own, nobody serves that network any
// more, and the next run ends what is left in it.
func TestKilledWithNamespace(t *testing.T) {
	needNamespace(t)
	for _, uid := range []uint32{0, 65534} {
		t.Run(fmt.Sprint(uid), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			limits := "resources: {max-processes: 50}" // a cgroup, which only root can make everywhere
			if uid != 0 {
				limits = ""
				if os.Getuid() != 0 {
					t.Skip("only root can act as another user; run the tests as root")
				}
				s.by(uid)
			}
			s.write("granted/keep", "")
			if err := os.Chmod(s.path("granted"), 0o777); err != nil {
				t.Fatal(err)
			}
			port := serveCanary(t, "tcp", "127.0.0.1:0", "served", 0).(*net.TCPAddr).Port
			s.write("t.yaml", fmt.Sprintf(`name: t
description: x
security: {enforce: true, required-permissions: ["filesystem:write:granted", "network:local:localhost:%d"]}
%s
steps:
  - name: s
    bash: |
      (setsid sleep 300 &)
      until [ -e granted/killed ]; do
        cat </dev/tcp/127.0.0.1/%d >granted/got.new && mv granted/got.new granted/got
        [ -e granted/ready ] || { readlink /proc/self/ns/net >granted/namespace; touch granted/ready; }
        sleep 0.1
      done
      cat </dev/tcp/127.0.0.1/%d >granted/after && touch granted/reached
      sleep 300
`, port, limits, port, port))
			s.write("next.yaml", "name: next\ndescription: x\nbash: echo next\n")
			s.killDuring(s.command("run", "./t.yaml"), func() bool { return s.exists("granted/ready") && s.exists("granted/namespace") })
			s.write("granted/killed", "")
			namespace := strings.TrimSpace(s.read("granted/namespace"))
			if !strings.HasPrefix(namespace, "net:[") || !strings.Contains(s.read("granted/got"), "served") {
				t.Fatalf("the step was not in a network: %q %q", namespace, s.read("granted/got"))
			}
			if out := s.run("run", "./next.yaml"); out.code != 0 {
				t.Error(out)
			}
			if !waittest.Holds(waittest.Limit, func() bool { return len(inNamespace(namespace)) == 0 }) {
				t.Errorf("processes are left in the network: %q", inNamespace(namespace))
			}
			if s.exists("granted/reached") {
				t.Error("the network was served after the kill")
			}
			if left, _ := filepath.Glob(filepath.Join(s.dir, "tmp", "*")); len(left) > 0 {
				t.Errorf("left in the temporary folder: %q", left)
			}
		})
	}
}

// TestProxyOfAnotherRun: a step does not reach the proxy of another run, although it knows its address.
func TestProxyOfAnotherRun(t *testing.T) {
	needNamespace(t)
	t.Parallel()
	s := newSite(t)
	port := serveCanary(t, "tcp", "127.0.0.1:0", "served", 0).(*net.TCPAddr).Port
	s.write("granted/keep", "")
	const text = `name: %s
description: x
security: {enforce: true, required-permissions: ["filesystem:read:granted", "filesystem:write:granted", "network:local:localhost:%d"]}
bash: |
%s
`
	s.write("has.yaml", fmt.Sprintf(text, "has", port, "  echo $HTTP_PROXY >granted/new; mv granted/new granted/proxy\n  until [ -e granted/done ]; do sleep 0.1; done\n"+
		fmt.Sprintf("  curl -sS -m 5 --noproxy '' http://localhost:%d/ >granted/own", port)))
	s.write("wants.yaml", fmt.Sprintf(text, "wants", 1, fmt.Sprintf("  curl -sS -m 5 --noproxy '' -x $(cat granted/proxy) http://localhost:%d/ >granted/stolen || true", port)))
	has := s.command("run", "./has.yaml")
	if err := has.Start(); err != nil {
		t.Fatal(err)
	}
	waittest.Within(t, waittest.Limit, "the first run has a proxy", func() bool { return s.exists("granted/proxy") })
	if out := s.run("run", "./wants.yaml"); out.code != 0 {
		t.Error(out)
	}
	s.write("granted/done", "")
	if err := has.Wait(); err != nil {
		t.Error(err)
	}
	if own, stolen := s.read("granted/own"), s.read("granted/stolen"); !strings.Contains(own, "served") || strings.Contains(stolen, "served") {
		t.Errorf("the run itself got %q, the other one %q", own, stolen)
	}
}
