package clientconfig_test

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/clientconfig"
)

var server = clientconfig.Server{Name: "flowrun", Command: "flowrun", Args: []string{"mcp", "--auto-approve", "tool:read"}}

func client(t *testing.T, name string) clientconfig.Client {
	t.Helper()
	c, ok := clientconfig.Find(name)
	if !ok {
		t.Fatalf("no client %s", name)
	}
	return c
}

// TestAdd checks that a server is added, and that everything else stays as it is.
func TestAdd(t *testing.T) {
	const entry = `"flowrun": {"command": "flowrun", "args": ["mcp", "--auto-approve", "tool:read"]}`
	const table = "[mcp_servers.flowrun]\ncommand = \"flowrun\"\nargs = [\"mcp\", \"--auto-approve\", \"tool:read\"]\n"
	for name, test := range map[string]struct{ client, was, want string }{
		"new":             {"cursor", "", "{\n  \"mcpServers\": {\n    " + entry + "\n  }\n}\n"},
		"empty":           {"cursor", "{}", "{\n  \"mcpServers\": {\n    " + entry + "\n  }\n}"},
		"other settings":  {"cursor", "{\n\t// mine\n\t\"a\": 1\n}\n", "{\n\t// mine\n\t\"a\": 1,\n\t\"mcpServers\": {\n\t  " + entry + "\n\t}\n}\n"},
		"other servers":   {"cursor", "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"x\"} // keep\n  }\n}\n", "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"x\"}, // keep\n    " + entry + "\n  }\n}\n"},
		"trailing comma":  {"cursor", "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"x\"},\n  },\n}\n", "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"x\"},\n    " + entry + ",\n  },\n}\n"},
		"replaced":        {"cursor", "{\"mcpServers\": {\"flowrun\": {\"command\": \"old\", \"args\": []}, \"x\": 1}}", "{\"mcpServers\": {" + entry + ", \"x\": 1}}"},
		"its settings":    {"cursor", "{\"mcpServers\": {\n  \"flowrun\": {\n    \"env\": {\"A\": \"b\"}, // mine\n    \"command\": \"flowrun\"\n  }}}", "{\"mcpServers\": {\n  \"flowrun\": {\n    \"env\": {\"A\": \"b\"}, // mine\n    \"command\": \"flowrun\",\n    \"args\": [\"mcp\", \"--auto-approve\", \"tool:read\"]\n  }}}"},
		"comment before":  {"cursor", "{\n  /* a */ \"mcpServers\": {\n    /* keep */ \"x\": {}\n  }\n}\n", "{\n  /* a */ \"mcpServers\": {\n    /* keep */ \"x\": {},\n    " + entry + "\n  }\n}\n"},
		"mixed line ends": {"cursor", "{\r\n}\n", "{\r\n  \"mcpServers\": {\n    " + entry + "\n  }\n}\n"},
		"mark":            {"cursor", "\ufeff{}", "\ufeff{\n  \"mcpServers\": {\n    " + entry + "\n  }\n}"},
		"CRLF":            {"cursor", "{\r\n  \"a\": \"//\"\r\n}\r\n", "{\r\n  \"a\": \"//\",\r\n  \"mcpServers\": {\r\n    " + entry + "\r\n  }\r\n}\r\n"},
		"in a comment":    {"cursor", "{ /* \"mcpServers\": { */ \"a\": \"\\\"mcpServers\\\"\" }", "{ /* \"mcpServers\": { */ \"a\": \"\\\"mcpServers\\\"\", \n  \"mcpServers\": {\n    " + entry + "\n  }\n}"},
		"with type":       {"vscode", "", "{\n  \"servers\": {\n    \"flowrun\": {\"type\": \"stdio\", \"command\": \"flowrun\", \"args\": [\"mcp\", \"--auto-approve\", \"tool:read\"]}\n  }\n}\n"},
		"toml":            {"codex", "", table},
		"toml, others":    {"codex", "model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = \"y\"", "model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = \"y\"\n\n" + table},
		"toml, replaced":  {"codex", "[mcp_servers.flowrun]\ncommand = \"old\"\nargs = [\n  \"a\",\n]\nstartup_timeout_sec = 5\n\n[other]\na = 1\n", table + "startup_timeout_sec = 5\n\n[other]\na = 1\n"},
		"toml, a string":  {"codex", "notes = \"\"\"\n[mcp_servers.flowrun]\ncommand = \"x\"\n\"\"\"\n", "notes = \"\"\"\n[mcp_servers.flowrun]\ncommand = \"x\"\n\"\"\"\n\n" + table},
		"toml, literal":   {"codex", "notes = '''\n[mcp_servers.flowrun]\n'''\n[mcp_servers.flowrun]\ncommand = \"x\"\n", "notes = '''\n[mcp_servers.flowrun]\n'''\n" + table},
		"toml, comment":   {"codex", "# [mcp_servers.flowrun]\n", "# [mcp_servers.flowrun]\n\n" + table},
		"toml, mark":      {"codex", "\ufeff[a]\n", "\ufeff[a]\n\n" + table},
		"toml, CRLF":      {"codex", "[mcp_servers.flowrun]\r\ncommand = \"old\"\r\nargs = []\r\n\r\n[other]\r\na = 1\r\n", strings.ReplaceAll(table, "\n", "\r\n") + "\r\n[other]\r\na = 1\r\n"},
		"toml, head":      {"codex", "[mcp_servers]\nother = {command = \"x\"}\n", "[mcp_servers]\nother = {command = \"x\"}\n\n" + table},
		"toml, its table": {"codex", table + "\n[mcp_servers.flowrun.env]\nA = \"b\"\n", table + "\n[mcp_servers.flowrun.env]\nA = \"b\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c := client(t, test.client)
			got, err := c.Add([]byte(test.was), server)
			if err != nil || string(got) != test.want {
				t.Fatalf("%v\n%q\nwant\n%q", err, got, test.want)
			}
			again, err := c.Add(got, server)
			if err != nil || string(again) != string(got) {
				t.Errorf("a second time: %v\n%s", err, again)
			}
		})
	}
}

// TestAddRefused checks files that cannot be changed.
func TestAddRefused(t *testing.T) {
	for name, test := range map[string]struct{ client, was, want string }{
		"broken":          {"cursor", "{", "invalid JSON"},
		"a list":          {"cursor", "[]", "does not contain a JSON object"},
		"servers list":    {"cursor", `{"mcpServers": []}`, `"mcpServers" is not an object`},
		"null":            {"cursor", `{"mcpServers": null}`, `"mcpServers" is not an object`},
		"no entry":        {"cursor", `{"mcpServers": {"flowrun": 1}}`, `"flowrun" is not an object`},
		"servers twice":   {"cursor", `{"mcpServers": {"a": 1}, "mcpServers": {}}`, `an object has the name "mcpServers" twice`},
		"twice, escaped":  {"cursor", `{"mcpServers": {"a": 1}, "mcp\u0053ervers": {}}`, `an object has the name "mcpServers" twice`},
		"twice, deep":     {"cursor", `{"mcpServers": {}, "a": [{"b": 1, "b": 2}]}`, `an object has the name "b" twice`},
		"toml, broken":    {"codex", "a = \n", "invalid TOML"},
		"toml, twice":     {"codex", "[mcp_servers.flowrun]\n[mcp_servers.flowrun]\n", "invalid TOML"},
		"array of tables": {"codex", "[[mcp_servers]]\na = 1\n", "not an object"},
		"a string":        {"codex", "[mcp_servers.flowrun]\nnotes = '''\ncommand = \"mine\"\n[other]\n'''\n", "does not change"},
		"its own string":  {"codex", "[mcp_servers.flowrun]\ncommand = '''\n[other]\n'''\n", "does not change"},
		"inline":          {"codex", "mcp_servers = {flowrun = {command = \"x\"}}\n", "does not change"},
		"inline, others":  {"codex", "mcp_servers = {}\n", "does not change"},
		"dotted":          {"codex", "mcp_servers.flowrun.command = \"x\"\n", "does not change"},
		"under a head":    {"codex", "[mcp_servers]\nflowrun = {command = \"x\"}\n", "does not change"},
		"quoted":          {"codex", "[ mcp_servers . \"flowrun\" ]\ncommand = \"x\"\n", "does not change"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := client(t, test.client).Add([]byte(test.was), server); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, %s", err, got)
			}
		})
	}
	for _, name := range []string{"cursor", "codex"} {
		if got, err := client(t, name).Add(nil, clientconfig.Server{Name: "flowrun", Args: []string{"--directory", "/\xff"}}); err == nil || !strings.Contains(err.Error(), `"/\xff" is not UTF-8`) {
			t.Errorf("%s: %v, %s", name, err, got)
		}
	}
}

// TestFiles checks where clients keep their settings.
func TestFiles(t *testing.T) {
	d := clientconfig.Dirs{Home: "/home/me", Config: "/home/me/.config", System: "linux"}
	for name, want := range map[string]string{
		"claude-code": "/home/me/.claude.json", "claude-desktop": "/home/me/.config/Claude/claude_desktop_config.json", "codex": "/home/me/.codex/config.toml",
		"cursor": "/home/me/.cursor/mcp.json", "qwen-code": "/home/me/.qwen/settings.json", "vscode": "/home/me/.config/Code/User/mcp.json", "zed": "/home/me/.config/zed/settings.json",
	} {
		if got := strings.ReplaceAll(client(t, name).UserFile(d), `\`, "/"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if len(clientconfig.Names()) != 7 {
		t.Error("a client is not tested")
	}
}

// FuzzAdd checks that no text makes Add fail in another way than with an error, and that what it
// returns can be changed again.
func FuzzAdd(f *testing.F) {
	for _, text := range []string{"", "{}", `{"mcpServers":{"x":{}}}`, "// c\n{\"a\":[1,2,],}", "[mcp_servers.x]\ncommand=\"y\"\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"cursor", "codex"} {
			c, _ := clientconfig.Find(name)
			got, err := c.Add([]byte(text), server)
			if err != nil {
				continue
			}
			if again, err := c.Add(got, server); err != nil || string(again) != string(got) {
				t.Fatalf("%s: a second time: %v\n%q\n%q", name, err, got, again)
			}
		}
	})
}
