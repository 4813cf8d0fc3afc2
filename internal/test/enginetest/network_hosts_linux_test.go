package enginetest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/service/netclient"
	"github.com/flowrun/flowrun/internal/test/dnstest"
	"github.com/flowrun/flowrun/internal/test/sshdtest"
	"github.com/flowrun/flowrun/steps/egress"
)

// innerHosts are texts for addresses of this machine and its networks, for a tool that may reach external hosts. Names end
// with .test.
var innerHosts = []string{"127.0.0.1", "localhost", "::1", "127.1", "127.0.1", "0177.0.0.1", "2130706433", "0x7f000001", "017700000001",
	"10.1", "2852039166", "169.254.43518", "loop.test", "intern.test", "metadata.test"}

// TestInnerHosts: a host that the caller chooses leads to none of these addresses, whatever kind of step connects.
func TestInnerHosts(t *testing.T) {
	was := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = was })
	net.DefaultResolver = dnstest.Resolver(func(name string) string {
		return map[string]string{"loop.test": "127.0.0.1", "intern.test": "10.0.0.1", "metadata.test": "169.254.169.254"}[name]
	})
	server := sshdtest.Start(t)
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s is reached", r.Host) }))
	defer web.Close()
	_, port, _ := net.SplitHostPort(web.Listener.Addr().String())
	known := fmt.Sprintf("port: %s, user: %q, key-file: %q, known-hosts: %q", server.Port, server.User, server.KeyFile, server.KnownHosts)
	for kind, step := range map[string]string{
		"ssh":       "ssh: {host: '{H}', " + known + "}\n    sh: 'true'",
		"jump":      "ssh: {host: 192.0.2.1, jump: '{J}', connect-timeout: 1s, " + known + "}\n    sh: 'true'",
		"wait-port": "wait: {port: '{W}'}",
		"wait-http": "wait: {http: 'http://{W}/'}",
		"http":      "http: {url: 'http://{W}/'}",
	} {
		for _, enforce := range []bool{true, false} {
			if !enforce && strings.HasPrefix(kind, "wait") {
				continue // a wait obeys permissions only if they are enforced
			}
			b := newBed(t)
			b.config.HTTP, b.config.Fetch, b.config.Egress = netclient.Status, netclient.Fetch, egress.Serve
			p := b.compile(fmt.Sprintf(`parameters: {H: {description: d}, J: {description: d}, W: {description: d}}
security: {enforce: %v, required-permissions: ['network:external', 'filesystem:read:%s']}
steps:
  - name: a
    %s
`, enforce, server.Dir(), step))
			for _, host := range innerHosts {
				params := map[string]any{"H": host, "J": net.JoinHostPort(host, server.Port), "W": net.JoinHostPort(host, port)}
				res, err := engine.New(b.config).Run(context.Background(), p, params, engine.WithRunEnv(b.world))
				message := fmt.Sprint(err)
				if err == nil {
					message = res.Step("a").Message
					if res.Status == dag.Succeeded {
						t.Errorf("%s, enforce %v: %s is reached", kind, enforce, host)
					}
				}
				if !strings.Contains(message, "is not a host") && !strings.Contains(message, "network:local:") {
					t.Errorf("%s, enforce %v, %s: %s", kind, enforce, host, message)
				}
			}
		}
	}
	if n := server.Connections(); n > 0 {
		t.Errorf("there were %d connections", n)
	}
}

// TestDecidedAddress: the ssh client connects to the address that was decided, and knows the key under the name.
func TestDecidedAddress(t *testing.T) {
	server := sshdtest.Start(t)
	keys, err := os.ReadFile(server.KnownHosts)
	if err != nil {
		t.Fatal(err)
	}
	run := func() (*runresult.Result, string) {
		b := newBed(t)
		p := b.compile(fmt.Sprintf(`parameters: {H: {description: d}}
security: {required-permissions: ['network:local:localhost:%[1]s']}
steps:
  - name: a
    ssh: {host: '{H}', port: %[1]s, user: %[2]q, key-file: %[3]q, known-hosts: %[4]q}
    sh: echo there
`, server.Port, server.User, server.KeyFile, server.KnownHosts))
		res, err := engine.New(b.config).Run(context.Background(), p, map[string]any{"H": "localhost"}, engine.WithRunEnv(b.world))
		if err != nil {
			t.Fatal(err)
		}
		return res, res.Step("a").Message
	}
	if res, message := run(); res.Status != dag.Failed || !strings.Contains(message, "Host key verification failed") {
		t.Errorf("the key is known under another name: %s, %s", res.Status, message)
	}
	if err := os.WriteFile(server.KnownHosts, []byte(strings.Replace(string(keys), "127.0.0.1", "localhost", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if res, message := run(); res.Output != "there\n" {
		t.Errorf("%s, %s", res.Status, message)
	}
}
