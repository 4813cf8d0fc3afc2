package permission

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/dnstest"
)

// TestResolve: a name leads to an address that the permissions include, whoever controls the name.
func TestResolve(t *testing.T) {
	was := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = was })
	net.DefaultResolver = dnstest.Resolver(func(name string) string {
		return map[string]string{"public.test": "192.0.2.7", "loop.test": "127.0.0.1", "intern.test": "10.0.0.1", "metadata.test": "169.254.169.254"}[name]
	})
	for _, c := range []struct{ grant, host, want string }{
		{"network:external", "public.test", "[192.0.2.7]"},
		{"network:external", "192.0.2.7", "[192.0.2.7]"},
		{"network:external:public.test:22", "PUBLIC.test.", "[192.0.2.7]"},
		{"network:external:public.test:80", "public.test", "network:external:public.test:22"},
		{"network:external", "loop.test", "network:local:loop.test (the name resolves to 127.0.0.1)"},
		{"network:external", "intern.test", "network:local:intern.test (the name resolves to 10.0.0.1)"},
		{"network:external", "metadata.test", "(the name resolves to 169.254.169.254)"},
		{"network:external", "127.0.0.1", "network:local:127.0.0.1:22"},
		{"network:external", "::1", "network:local:[::1]:22"},
		{"network:external", "127.1", "is not a host"},
		{"network", "2130706433", "is not a host"},
		{"network", "metadata.test", "[169.254.169.254]"},
		{"network", "nowhere.test", "cannot find the address of nowhere.test"},
		{"network:local:10.0.0.1", "10.0.0.1", "[10.0.0.1]"},
	} {
		list, err := Grants{c.grant}.Resolve(t.Context(), c.host, "22")
		got := fmt.Sprint(list)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s, %s: %s, want %s", c.grant, c.host, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		grant, host string
		want        bool
	}{{"network:external:a.test", "a.test", true}, {"network:external:a.test:22", "A.test", true}, {"network:external:a.test:80", "a.test", false},
		{"network:external", "a.test", false}, {"network", "a.test", false}, {"network:local:10.0.0.1", "10.0.0.1", true}, {"network:external:b.test", "a.test", false}} {
		if got := (Grants{c.grant}).Names(c.host, "22"); got != c.want {
			t.Errorf("%s, %s: %v", c.grant, c.host, got)
		}
	}
}
