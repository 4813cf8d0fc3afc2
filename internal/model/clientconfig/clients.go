// Package clientconfig adds a server to the settings of MCP clients.
//
// A Client is one program with its settings files: one that a project shares, one of the user, or
// both. Add returns the text of such a file with the server in it. It changes nothing else: comments,
// order and formatting of the file stay as they are (json.go, toml.go), and a parser confirms that
// the values do (add.go). Package editedfile reads and writes the files.
package clientconfig

import (
	"path/filepath"
	"slices"
)

// Server is what a client starts.
type Server struct {
	Name    string
	Command string
	Args    []string
}

// Client is a program that uses servers.
type Client struct {
	Name    string // as users write it
	Title   string
	project []string            // path of the settings in a project; nil if there are none
	user    func(Dirs) []string // path of the settings of the user; nil if there are none
	key     string              // the member of the file that contains the servers
	extra   [][2]string         // members that the entry of a server needs besides command and args
	toml    bool
}

// Dirs are the folders of a user.
type Dirs struct {
	Home   string
	Config string // as os.UserConfigDir returns it
	System string // as runtime.GOOS
}

// clients are all known clients.
var clients = []Client{
	{Name: "claude-code", Title: "Claude Code", project: []string{".mcp.json"}, user: inHome(".claude.json"), key: "mcpServers", extra: [][2]string{{"type", "stdio"}}},
	{Name: "claude-desktop", Title: "Claude Desktop", user: inConfig("Claude", "claude_desktop_config.json"), key: "mcpServers"},
	{Name: "codex", Title: "Codex", project: []string{".codex", "config.toml"}, user: inHome(".codex", "config.toml"), key: "mcp_servers", toml: true},
	{Name: "cursor", Title: "Cursor", project: []string{".cursor", "mcp.json"}, user: inHome(".cursor", "mcp.json"), key: "mcpServers"},
	{Name: "qwen-code", Title: "Qwen Code", project: []string{".qwen", "settings.json"}, user: inHome(".qwen", "settings.json"), key: "mcpServers"},
	{Name: "vscode", Title: "Visual Studio Code", project: []string{".vscode", "mcp.json"}, user: inConfig("Code", "User", "mcp.json"), key: "servers", extra: [][2]string{{"type", "stdio"}}},
	{Name: "zed", Title: "Zed", project: []string{".zed", "settings.json"}, user: zedSettings, key: "context_servers", extra: [][2]string{{"source", "custom"}}},
}

func inHome(parts ...string) func(Dirs) []string {
	return func(d Dirs) []string { return append([]string{d.Home}, parts...) }
}

func inConfig(parts ...string) func(Dirs) []string {
	return func(d Dirs) []string { return append([]string{d.Config}, parts...) }
}

// zedSettings returns the settings of Zed, which does not follow the convention of macOS.
func zedSettings(d Dirs) []string {
	if d.System == "windows" {
		return []string{d.Config, "Zed", "settings.json"}
	}
	return []string{d.Home, ".config", "zed", "settings.json"}
}

// Names returns the names of all clients.
func Names() (names []string) {
	for _, c := range clients {
		names = append(names, c.Name)
	}
	return names
}

// Find returns the client with a name.
func Find(name string) (Client, bool) {
	i := slices.IndexFunc(clients, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return clients[i], true
}

// ProjectFile returns the path of the settings in a project; "" if the client has none.
func (c Client) ProjectFile(project string) string {
	if c.project == nil {
		return ""
	}
	return filepath.Join(append([]string{project}, c.project...)...)
}

// UserFile returns the path of the settings of a user.
func (c Client) UserFile(d Dirs) string { return filepath.Join(c.user(d)...) }
