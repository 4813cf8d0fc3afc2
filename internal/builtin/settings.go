package builtin

import "os"

// Settings are what people have set for the tools that reach beyond files. Whatever is
// empty is not there, and the tool that needs it says how to set it.
type Settings struct {
	// WebAllow are hosts of this machine, or the network around it, that web_fetch may
	// ask: localhost:8080, or without a port for every one.
	WebAllow []string
	// SearchURL is the address that web_search asks, with {query} in it.
	SearchURL string
	// SearchKeyEnv names the environment variable that holds the key for it, and
	// SearchKeyHeader the header in which it is sent; "" is Authorization, as a bearer.
	SearchKeyEnv, SearchKeyHeader string
	// AgentCommand is the program, and its arguments, that task hands work to.
	AgentCommand string
	// ConfigDir is the user's folder of configuration, which has the memory; "" for none.
	ConfigDir string
	// StateDir is where to-do lists are kept; "" for nowhere.
	StateDir string
	// Getenv reads the environment; nil is that of the process.
	Getenv func(string) string
}

func (s Settings) getenv(name string) string {
	if s.Getenv == nil {
		return os.Getenv(name)
	}
	return s.Getenv(name)
}
