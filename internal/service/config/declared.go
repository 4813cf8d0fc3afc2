package config

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// DeclaredServer is a server of mcpServers as a file has it, also if flowrun can use nothing of it: settings.json is shared
// with other programs, which know other keys and other names.
type DeclaredServer struct {
	Name    string
	Known   []string // keys that flowrun has
	Unknown []string // keys that it does not have
}

// DeclaredServers returns the servers of all files.
func (c *Config) DeclaredServers() []DeclaredServer {
	if c == nil {
		return nil
	}
	return c.servers
}

func declaredServers(path string, src []byte) (list []DeclaredServer) {
	for _, e := range keytable.NamedObjects(servers.Key, path, src) {
		s := DeclaredServer{Name: e.Name}
		for _, key := range e.Keys {
			switch {
			case server.Field(key) != nil:
				s.Known = append(s.Known, key)
			case !strings.HasPrefix(key, "x-") && !slices.Contains(s.Unknown, key):
				s.Unknown = append(s.Unknown, key)
			}
		}
		list = append(list, s)
	}
	return list
}
