package plan

import (
	"testing"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// TestContainerNetwork: a container has a network if any permission for the network is listed.
func TestContainerNetwork(t *testing.T) {
	for written, network := range map[string]bool{
		"network": true, "network:external": true, "network:local": true, "network:external:a.example:443": true, "network:{HOST}": true,
		"": false, "networks": false, "filesystem:read:network": false, "environment:network": false,
	} {
		p := &Plan{Definition: &tool.Definition{Security: tool.Security{Isolation: "container", RequiredPermissions: []tool.Text{{S: written}}}}}
		if c := p.Confinement(); c.Network != network {
			t.Errorf("%q: network %v", written, c.Network)
		}
	}
}
