package config

import (
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// DeclaredServer is a server of mcpServers as a file has it, also if flowrun can use nothing of it: settings.json is shared
// with other programs, which know other keys, forms and names.
type DeclaredServer struct {
	Name    string
	Written string   // the name in the file
	Unknown []string // keys that flowrun does not have
	// LeftOut are the values that flowrun cannot read, by their key as the path. If one of them is an error, the server
	// cannot be used.
	LeftOut tool.Diagnostics
}

// DeclaredServers returns the servers of all files.
func (c *Config) DeclaredServers() []DeclaredServer {
	if c == nil {
		return nil
	}
	return c.servers
}

func declaredServers(objects []keytable.NamedObject) (list []DeclaredServer) {
	for _, o := range objects {
		if o.Map == servers.Key {
			list = append(list, DeclaredServer{o.Name, o.Written, o.Unknown, o.LeftOut})
		}
	}
	return list
}
