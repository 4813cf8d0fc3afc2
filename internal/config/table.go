package config

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/keytable"
	"github.com/flowrun/flowrun/tool"
)

func field(kind keytable.ValueKind, key, def, doc string) keytable.Field {
	return keytable.Field{Kind: kind, Key: key, Default: def, Doc: doc}
}

func section(key string, of *keytable.Object, doc string) keytable.Field {
	return keytable.Field{Kind: keytable.KindObject, Key: key, Of: of, Doc: doc}
}

// many is a whole number from 1 on.
func many(key, doc string) keytable.Field {
	return keytable.Field{Kind: keytable.KindInteger, Key: key, Min: 1, Max: 1 << 30, Doc: doc}
}

var approvals = keytable.NewObject("approvals", "Which tools may be called without asking, and which never.",
	field(keytable.KindTexts, "allow", "", "Patterns of tools that need no approval: tool:NAME, tool:TAG, tool:read, tool:write, tool:run, or * for all."),
	field(keytable.KindTexts, "deny", "", "Patterns of tools that are refused, whoever calls them; stronger than allow."),
)

var limits = keytable.NewObject("limits", "Bounds of runs.",
	many("max-parallel", "How many steps run at once; 2 for each CPU, at least 4, where absent."),
	many("max-plan-steps", "How many steps the plan of a tool may have, with those of the tools it uses; a million where absent."),
	field(keytable.KindDuration, "cleanup", "60s", "Bound on what runs after a run was cancelled."),
	field(keytable.KindDuration, "call-timeout", "60s", "Bound on a call that comes from a model."),
	field(keytable.KindDuration, "js-timeout", "5s", "Bound on one call of JavaScript."),
	field(keytable.KindSize, "js-memory", "128MiB", "Memory that JavaScript may take."),
)

var history = keytable.NewObject("history", "How much history is kept; a run goes, with its logs, when any of these says so.",
	many("keep", "How many runs are kept; all where absent."),
	field(keytable.KindText, "older-than", "", "Age from which runs go: 30d, 2w, 12h."),
	field(keytable.KindSize, "max-size", "", "How large the history may become, logs included."),
)

var server = keytable.NewObject("a server", "One MCP server: a program to start, or an address.",
	field(keytable.KindText, "command", "", "Program to start."),
	field(keytable.KindTexts, "args", "", "Its arguments."),
	field(keytable.KindTextMap, "env", "", "Its environment variables; $NAME and ${NAME} are taken from flowrun's."),
	field(keytable.KindText, "cwd", "", "Directory it starts in."),
	field(keytable.KindText, "url", "", "Address of a server that speaks SSE."),
	field(keytable.KindText, "httpUrl", "", "Address of a server that speaks streamable HTTP."),
	field(keytable.KindTextMap, "headers", "", "Headers of requests to an address."),
	field(keytable.KindDuration, "timeout", "10m", "Bound on one call."),
	field(keytable.KindBoolean, "trust", "false", "Whether its tools need no approval."),
	field(keytable.KindTexts, "includeTools", "", "The tools to take; all where absent."),
	field(keytable.KindTexts, "excludeTools", "", "Tools to leave out; stronger than includeTools."),
	field(keytable.KindText, "description", "", "What the server is for."),
)

var discovery = keytable.NewObject("tools", "Programs that tell of further tools, and what built-in tools may reach.",
	field(keytable.KindText, "discoveryCommand", "", "Program and arguments, started without a shell, that print declarations of tools as a JSON array."),
	field(keytable.KindText, "callCommand", "", "Program and arguments that call one of them: its name is the last argument, the parameters are JSON on standard input."),
	keytable.Field{Kind: keytable.KindChoice, Key: "callStderr", Enum: []string{"ignore", "fail"}, Default: "ignore", Doc: "Whether a call fails whose program prints an error and ends with exit code 0."},
	field(keytable.KindText, "agentCommand", "", "Program, with its arguments, that task hands work to; it starts without a shell."),
	field(keytable.KindText, "searchUrl", "", "Address that web_search asks, with {query} in it; it answers JSON."),
	field(keytable.KindText, "searchKeyEnv", "", "Environment variable that holds the key for it."),
	field(keytable.KindText, "searchKeyHeader", "", "Header that the key is sent in; Authorization, as a bearer token, where absent."),
	field(keytable.KindTexts, "webAllow", "", "Hosts of this machine or its network that web_fetch may ask: localhost:8080, or without a port for every one."),
	field(keytable.KindText, "toolDiscoveryCommand", "", "Another spelling of discoveryCommand."),
	field(keytable.KindText, "toolCallCommand", "", "Another spelling of callCommand."),
)

// Before there was a section of tools the two stood by themselves.
var (
	oldDiscovery = field(keytable.KindText, "toolDiscoveryCommand", "", "Another spelling of tools.discoveryCommand.")
	oldCall      = field(keytable.KindText, "toolCallCommand", "", "Another spelling of tools.callCommand.")
)

// spellings are the keys that are other words for one, which is how they are
// known from there on.
var spellings = map[string]string{
	"tools.toolDiscoveryCommand": "tools.discoveryCommand",
	"tools.toolCallCommand":      "tools.callCommand",
	"toolDiscoveryCommand":       "tools.discoveryCommand",
	"toolCallCommand":            "tools.callCommand",
}

var notification = keytable.NewObject("a notification", "A command, or an address, that is told how runs end.",
	field(keytable.KindTexts, "on", "", "What it is told of: "+strings.Join(tool.NotifyEvents(), ", ")+"; failure, recovery and waiting where absent."),
	field(keytable.KindText, "command", "", "Program and arguments, started without a shell, with the run as JSON on its standard input."),
	field(keytable.KindText, "webhook", "", "Address that the run is posted to; ${NAME} in it is an environment variable."),
	field(keytable.KindText, "secret-env", "", "Environment variable that holds the secret to sign posts with."),
	field(keytable.KindText, "secret-file", "", "File that holds the secret to sign posts with."),
)

var webhook = keytable.NewObject("a webhook", "One caller from outside that may start a tool through the service.",
	field(keytable.KindText, "tool", "", "Tool to start."),
	field(keytable.KindText, "secret-env", "", "Variable of the service's environment that holds the secret which the caller knows."),
	field(keytable.KindText, "secret-file", "", "File that holds it instead; a relative one counts from the folder of this file."),
	keytable.Field{Kind: keytable.KindChoice, Key: "scheme", Enum: []string{Token, HMAC}, Default: Token, Doc: "How the caller proves that it knows the secret: by sending it, or by signing the body with it."},
	field(keytable.KindText, "header", "", "Header of the proof; X-Flowrun-Token, or X-Hub-Signature-256 for a signature, where absent."),
	field(keytable.KindText, "body-param", "", "Parameter that gets the whole body."),
	field(keytable.KindTextMap, "params", "", "Parameters, and the places in a JSON body where their values stand: /repository/name."),
	field(keytable.KindText, "delivery-header", "", "Header whose value is the same when the caller sends something again, so that it starts one run; X-GitHub-Delivery for a signature where absent."),
)

var webhooks = keytable.Field{Kind: keytable.KindObjectMap, Key: "webhooks", Of: webhook, Doc: "Callers from outside that may start a tool through the service, by name."}

var servers = keytable.Field{Kind: keytable.KindObjectMap, Key: "mcpServers", Of: server, Doc: "MCP servers whose tools are offered, by name."}

var served = keytable.NewObject("serve", "What flowrun serve offers over the network.",
	field(keytable.KindTexts, "tools", "", "Patterns of built-in and discovered tools that callers over the network may start, as * or web_*; none where absent."),
)

// file is config.yaml, with every key there is.
var file = keytable.NewObject("the configuration", "Settings of flowrun for a project, a user or a machine.",
	section("approvals", approvals, approvals.Doc),
	section("limits", limits, limits.Doc),
	section("history", history, history.Doc),
	field(keytable.KindDuration, "grace", "10s", "How long a stopped step may take to end before it is killed."),
	field(keytable.KindTexts, "roots", "", "Folders that built-in tools may work in, beside the workspace."),
	servers,
	keytable.Field{Kind: keytable.KindObjectMap, Key: "notifications", Of: notification, Doc: "Who is told how runs end, by name, beside those that the tool tells itself."},
	section("tools", discovery, discovery.Doc),
	oldDiscovery,
	oldCall,
	webhooks,
	section("serve", served, served.Doc),
)

// shared is settings.json, which other programs use too.
var shared = keytable.NewObject("the settings",
	"Settings that are shared with other programs.",
	keytable.Field{Kind: keytable.KindObjectMap, Key: servers.Key, Of: server.Open(), Doc: servers.Doc},
	section("tools", discovery.Open(), discovery.Doc),
	oldDiscovery,
	oldCall,
).Open()

// needTrust are the sections of a project that need its trust.
var needTrust = []string{"mcpServers", "notifications", "tools", "approvals.allow", "roots", "history", "webhooks", "serve"}

func gated(key string) bool {
	for _, g := range needTrust {
		if key == g || strings.HasPrefix(key, g+".") {
			return true
		}
	}
	return false
}

// bounds says whether a key bounds what runs may take, so that a project which is not
// trusted may lower its value and not raise it.
func bounds(key string) bool { return key == "grace" || strings.HasPrefix(key, "limits.") }

// leaf is a key with a value of its own.
type leaf struct {
	key   string
	field keytable.Field
}

// variable is the environment variable that sets the key.
func (l leaf) variable() string {
	return "FLOWRUN_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(l.key))
}

// parts are the values in a variable: of a list there may be several.
func (l leaf) parts(value string) []string {
	switch {
	case l.field.Kind != keytable.KindTexts:
		return []string{value}
	case l.key == "roots":
		return strings.FieldsFunc(value, func(r rune) bool { return r == os.PathListSeparator })
	}
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
}

// leaves are the keys that have a variable: all but those of mcpServers, notifications,
// tools and webhooks, which would let a variable start programs.
func leaves() (list []leaf) {
	for _, f := range file.Fields {
		switch {
		case f.Kind == keytable.KindObject && f.Key != "tools":
			for _, in := range f.Of.Fields {
				list = append(list, leaf{f.Key + "." + in.Key, in})
			}
		case f.Kind != keytable.KindObject && f.Kind != keytable.KindObjectMap && spellings[f.Key] == "":
			list = append(list, leaf{f.Key, f})
		}
	}
	return list
}

// Keys are the keys that config get takes, in the order of the table. Of mcpServers
// notifications and webhooks stands the section alone.
func Keys() (keys []string) {
	for _, f := range file.Fields {
		if f.Kind != keytable.KindObject {
			keys = append(keys, f.Key)
			continue
		}
		for _, in := range f.Of.Fields {
			keys = append(keys, f.Key+"."+in.Key)
		}
	}
	return slices.DeleteFunc(keys, func(key string) bool { return spellings[key] != "" })
}

// Schema is the JSON Schema (draft-07) of config.yaml, as indented JSON.
func Schema() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(tool.SettingsSchema(file, "flowrun configuration"))
	return b.Bytes(), err
}
