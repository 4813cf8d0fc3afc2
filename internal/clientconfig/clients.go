// Package clientconfig adds a server to the settings of MCP clients.
//
// A Client is one program with its settings files: one that a project shares, one of the user, or
// both. Add returns the text of such a file with the server in it. It changes nothing else: comments,
// order and formatting of the file stay as they are (json.go, toml.go). Add is a pure function;
// reading and writing files is left to the caller.
package clientconfig

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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

// Add returns the text of a settings file with the server in it. A server with the same name is
// replaced. The error says why the text cannot be changed.
func (c Client) Add(text []byte, s Server) ([]byte, error) {
	if c.toml {
		return addTOML(text, c.key, s)
	}
	return addJSON(text, c.key, s.Name, c.entry(s))
}

// entry returns the entry of a server in JSON, in one line.
func (c Client) entry(s Server) string {
	var members []string
	for _, m := range append(c.extra, [2]string{"command", s.Command}) {
		members = append(members, quote(m[0])+": "+quote(m[1]))
	}
	return "{" + strings.Join(append(members, `"args": `+quoteAll(s.Args)), ", ") + "}"
}

// quote returns a text in JSON, which is also a basic string of TOML.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // never: a text can be encoded
		return fmt.Sprintf("%q", s)
	}
	return string(b)
}

// quoteAll returns a list of texts in JSON, which is also an array of TOML.
func quoteAll(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
