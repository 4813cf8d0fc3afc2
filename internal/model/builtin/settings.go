package builtin

import "os"

// Settings are the user's settings for the tools that go beyond files. If a setting is empty, the tool that needs it
// fails and says how to set it.
type Settings struct {
	// WebAllow lists hosts of this machine, or of its network, that web_fetch may request: localhost:8080, or without
	// a port for all ports.
	WebAllow []string
	// SearchURL is the address that web_search requests, with {query} in it.
	SearchURL string
	// SearchKeyEnv is the environment variable with the key for it, and SearchKeyHeader the header in which the key
	// is sent; "" is Authorization with a bearer token.
	SearchKeyEnv, SearchKeyHeader string
	// AgentCommand is the program, with its arguments, to which task passes its work.
	AgentCommand string
	// ConfigDir is the user's configuration folder, which contains the memory; "" for none.
	ConfigDir string
	// StateDir is where to-do lists are stored; "" for nowhere.
	StateDir string
	// Getenv reads the environment; nil uses that of the process.
	Getenv func(string) string
}

func (s Settings) getenv(name string) string {
	if s.Getenv == nil {
		return os.Getenv(name)
	}
	return s.Getenv(name)
}
