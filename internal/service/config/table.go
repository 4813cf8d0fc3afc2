package config

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/keyschema"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/notifyrule"
	"github.com/flowrun/flowrun/internal/model/servername"
)

func field(kind keytable.ValueKind, key, def, doc string) keytable.Field {
	return keytable.Field{Kind: kind, Key: key, Default: def, Doc: doc}
}

// foreign is field for a key that other programs write too.
func foreign(kind keytable.ValueKind, key, def, doc string, theirs keytable.Foreign) keytable.Field {
	f := field(kind, key, def, doc)
	f.Foreign = &theirs
	return f
}

// minor says that a server is used without a value that cannot be read.
var minor = keytable.Foreign{Minor: true}

// spelled says that other programs have other keys for a field.
func spelled(keys ...string) keytable.Foreign { return keytable.Foreign{Spellings: keys} }

func section(key string, of *keytable.Object, doc string) keytable.Field {
	return keytable.Field{Kind: keytable.KindObject, Key: key, Of: of, Doc: doc}
}

// positiveInteger describes a whole number of at least 1.
func positiveInteger(key, doc string) keytable.Field {
	return keytable.Field{Kind: keytable.KindInteger, Key: key, Min: 1, Max: 1 << 30, Doc: doc}
}

var approvals = keytable.NewObject("approvals", "Which tools may be called without approval, and which are always refused.", func() []keytable.Field {
	return []keytable.Field{
		field(keytable.KindTexts, "allow", "", "Patterns of tools that need no approval: tool:NAME, tool:TAG, tool:read, tool:write, tool:run, or * for all."),
		field(keytable.KindTexts, "deny", "", "Patterns of tools that are always refused; overrides allow."),
	}
})

var limits = keytable.NewObject("limits", "Limits of runs.", func() []keytable.Field {
	return []keytable.Field{
		positiveInteger("max-parallel", "How many steps run at once. Default: 2 per CPU, at least 4."),
		positiveInteger("max-plan-steps", "How many steps the plan of a tool may have, including those of the tools it uses. Default: one million."),
		field(keytable.KindDuration, "cleanup", "60s", "Time limit of the cleanup after a run was cancelled."),
		field(keytable.KindDuration, "call-timeout", "60s", "Time limit of a call by a model."),
		field(keytable.KindDuration, "js-timeout", "5s", "Time limit of one call of JavaScript."),
		field(keytable.KindSize, "js-memory", "128MiB", "Memory limit of JavaScript."),
	}
})

var artifacts = keytable.NewObject("artifacts", "Limits of the files that are kept of steps.", func() []keytable.Field {
	return []keytable.Field{
		field(keytable.KindSize, "max-file-size", "1GiB", "How large one file may be."),
		field(keytable.KindSize, "max-size", "10GiB", "How large all artifacts of a run may be."),
		positiveInteger("max-files", "How many files and folders one artifact may have. Default: 10,000."),
	}
})

var security = keytable.NewObject("security", "Which permissions are enforced.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Field{Kind: keytable.KindChoice, Key: "enforce", Enum: enforcements, Doc: "When the required-permissions of tools are enforced: for every run, for calls from models, or only for tools with security.enforce. A project can only make this stricter. Default: models on Linux, never elsewhere."},
	}
})

var history = keytable.NewObject("history", "How much history is kept. A run that exceeds any of these limits is removed with its logs.", func() []keytable.Field {
	return []keytable.Field{
		positiveInteger("keep", "How many runs are kept. Default: all."),
		field(keytable.KindText, "older-than", "", "Runs older than this are removed: 30d, 2w, 12h."),
		field(keytable.KindSize, "max-size", "", "How large the history may become, including logs."),
		field(keytable.KindSize, "min-free", "", "How much of the state directory's file system should be free; otherwise it needs attention. Default: 1GiB, or 5 % of it if that is less."),
	}
})

var server = keytable.NewObject("a server", "One MCP server: a program to start, or a URL.", func() []keytable.Field {
	return []keytable.Field{
		foreign(keytable.KindText, "command", "", "Program to start.", keytable.Foreign{Spellings: []string{"cmd"}, Rest: "args"}),
		field(keytable.KindTexts, "args", "", "Its arguments."),
		foreign(keytable.KindTextMap, "env", "", "Its environment variables. In these, and in command, args, cwd, URLs, headers and oauth, $NAME and ${NAME} are replaced by flowrun's variables.", spelled("environment", "envs")),
		field(keytable.KindText, "envFile", "", "File with more environment variables, relative to the project; env overrides it."),
		foreign(keytable.KindText, "cwd", "", "Its working directory.", spelled("workingDirectory", "working_directory")),
		foreign(keytable.KindText, "type", "", "How the server is reached: stdio with command; http (streamable HTTP) or sse with url.", keytable.Foreign{Spellings: []string{"transport", "transportType"}, Inside: true}),
		foreign(keytable.KindText, "url", "", "URL of a server. Without type, streamable HTTP is tried first, then SSE.", spelled("uri", "baseUrl")),
		field(keytable.KindText, "serverUrl", "", "Another spelling of url."),
		field(keytable.KindText, "httpUrl", "", "URL of a server that uses streamable HTTP."),
		foreign(keytable.KindTextMap, "headers", "", "Headers of the requests to the URL.", spelled("http_headers")),
		section("oauth", serverOAuth, serverOAuth.Doc),
		keytable.Field{Kind: keytable.KindDuration, Key: "timeout", Default: "10m", InSeconds: true, Foreign: &minor, Doc: "Time limit of one call. A number below 1000 is in seconds: 60 is a minute, as some programs write it."},
		foreign(keytable.KindDuration, "timeout_ms", "", "Another spelling of timeout, always in milliseconds.", keytable.Foreign{Spellings: []string{"timeoutMs"}, Minor: true}),
		field(keytable.KindBoolean, "disabled", "false", "Whether the server is left out."),
		foreign(keytable.KindBoolean, "enabled", "true", "The opposite of disabled.", spelled("isActive")),
		foreign(keytable.KindBoolean, "trust", "false", "Whether its tools can be called without approval, until they change.", minor),
		foreign(keytable.KindTexts, "includeTools", "", "The tools to include. Default: all.", spelled("tools", "enabledTools", "enabled_tools", "available_tools")),
		foreign(keytable.KindTexts, "excludeTools", "", "The tools to exclude; overrides includeTools.", spelled("disabledTools", "disabled_tools")),
		foreign(keytable.KindText, "description", "", "What the server is for.", minor),
	}
}).WithHint("disabledTools", keytable.FixedHint(`did you mean "excludeTools"?`))

var serverOAuth = keytable.NewObject("oauth", "How flowrun signs in to the server, if it cannot register itself there.", func() []keytable.Field {
	return []keytable.Field{
		field(keytable.KindText, "clientId", "", "The id that the authorization server gave flowrun."),
		field(keytable.KindText, "clientSecret", "", "The secret that belongs to clientId."),
		field(keytable.KindText, "issuer", "", "The only authorization server that may get clientSecret. Default: the one that the server names."),
		keytable.Field{Kind: keytable.KindInteger, Key: "callbackPort", Min: 1, Max: 65535, Doc: "Port on this machine to which the browser returns. Default: any."},
	}
})

var used = keytable.NewObject("mcp", "Which MCP servers are used.", func() []keytable.Field {
	return []keytable.Field{
		field(keytable.KindTexts, "allowed", "", "The servers to use, by name. Default: all."),
		field(keytable.KindTexts, "excluded", "", "Servers that are not used, by name; overrides allowed."),
		field(keytable.KindText, "serverCommand", "", "Program and arguments of a server with the name mcp, started without a shell."),
		field(keytable.KindText, "mcpServerCommand", "", "Another spelling of serverCommand."),
	}
})

var discovery = keytable.NewObject("tools", "Programs that provide more tools, and settings of built-in tools.", func() []keytable.Field {
	return []keytable.Field{
		field(keytable.KindText, "discoveryCommand", "", "Program and arguments, started without a shell. It prints tool declarations as a JSON array."),
		field(keytable.KindText, "callCommand", "", "Program and arguments that call a discovered tool. The tool's name is added as the last argument; its parameters are JSON on standard input."),
		keytable.Field{Kind: keytable.KindChoice, Key: "callStderr", Enum: []string{"ignore", "fail"}, Default: "ignore", Doc: "Whether a call fails if its program prints to standard error but exits with code 0."},
		field(keytable.KindText, "agentCommand", "", "Program and arguments that the tool task starts, without a shell."),
		field(keytable.KindText, "samplingCommand", "", "Program and arguments, started without a shell, that answer scripts and MCP servers which ask a language model."),
		field(keytable.KindText, "searchUrl", "", "URL for web_search. It must contain {query} and return JSON."),
		field(keytable.KindText, "searchKeyEnv", "", "Environment variable with the key for searchUrl."),
		field(keytable.KindText, "searchKeyHeader", "", "Header for the key. Default: Authorization, as a bearer token."),
		field(keytable.KindTexts, "webAllow", "", "Hosts of this machine or its network that web_fetch may use: localhost:8080, or without a port for all ports."),
		field(keytable.KindText, "toolDiscoveryCommand", "", "Another spelling of discoveryCommand."),
		field(keytable.KindText, "toolCallCommand", "", "Another spelling of callCommand."),
	}
})

// These keys are older than the sections tools and mcp.
var (
	oldServer    = field(keytable.KindText, "mcpServerCommand", "", "Another spelling of mcp.serverCommand.")
	oldDiscovery = field(keytable.KindText, "toolDiscoveryCommand", "", "Another spelling of tools.discoveryCommand.")
	oldCall      = field(keytable.KindText, "toolCallCommand", "", "Another spelling of tools.callCommand.")
)

// spellings maps alternative keys to the preferred ones.
var spellings = map[string]string{
	"tools.toolDiscoveryCommand": "tools.discoveryCommand",
	"tools.toolCallCommand":      "tools.callCommand",
	"mcp.mcpServerCommand":       "mcp.serverCommand",
	"mcpServerCommand":           "mcp.serverCommand",
	"toolDiscoveryCommand":       "tools.discoveryCommand",
	"toolCallCommand":            "tools.callCommand",
}

var notification = keytable.NewObject("a notification", "A command, a webhook or an e-mail for when runs end or wait.", func() []keytable.Field {
	return []keytable.Field{
		field(keytable.KindTexts, "on", "", "The events to report: "+strings.Join(notifyrule.Events(), ", ")+". Default: failure, recovery, waiting, attention, late and paused."),
		field(keytable.KindText, "command", "", "Program and arguments, started without a shell. It gets the run as JSON on its standard input."),
		field(keytable.KindText, "webhook", "", "URL that the run is posted to. ${NAME} in it is replaced by an environment variable."),
		section("email", email, email.Doc),
		keytable.Field{Kind: keytable.KindChoice, Key: "format", Enum: notifyrule.Formats(), Default: "flowrun", Doc: "Form of the webhook's request: the run as JSON, or a message for Slack and programs that accept the same."},
		field(keytable.KindText, "message", "", "The message. {run.status} and other fields of the run are replaced."),
		field(keytable.KindDuration, "digest", "", "Sends at most one message in this time, about all runs since the last one. Not for commands."),
		field(keytable.KindText, "secret-env", "", "Environment variable with the secret that signs the requests."),
		field(keytable.KindText, "secret-file", "", "File with the secret that signs the requests."),
	}
})

var email = keytable.NewObject("an e-mail", "Receivers and subject of an e-mail.", func() []keytable.Field {
	return []keytable.Field{
		field(keytable.KindTexts, "to", "", "Addresses of the receivers."),
		field(keytable.KindText, "from", "", "Address of the sender. Default: smtp.from."),
		field(keytable.KindText, "subject", "", "Subject, with {run.NAME} as in message. Default: flowrun: {run.summary}."),
	}
})

var smtp = keytable.NewObject("smtp", "The server that sends the e-mails of notifications.", func() []keytable.Field {
	return []keytable.Field{
		field(keytable.KindText, "host", "", "Name or address of the server."),
		keytable.Field{Kind: keytable.KindInteger, Key: "port", Min: 1, Max: 65535, Doc: "Port. Default: 587 with starttls, 465 with tls, 25 with none."},
		keytable.Field{Kind: keytable.KindChoice, Key: "tls", Enum: TLSModes(), Default: "starttls", Doc: "How the connection is encrypted: after STARTTLS, from its start, or not at all."},
		field(keytable.KindText, "from", "", "Address of the sender."),
		field(keytable.KindText, "user", "", "Name for authentication. Default: none, no authentication."),
		field(keytable.KindText, "password-env", "", "Environment variable with the password."),
		field(keytable.KindText, "password-file", "", "File with the password."),
		field(keytable.KindText, "ca-file", "", "File with the certificates (PEM) that sign that of the server. Default: those of the system."),
	}
})

// TLSModes returns the values of smtp.tls.
func TLSModes() []string { return []string{"starttls", "tls", "none"} }

var webhook = keytable.NewObject("a webhook", "A webhook with which an external system starts a tool through the service.", func() []keytable.Field {
	return []keytable.Field{
		field(keytable.KindText, "tool", "", "The tool to start."),
		field(keytable.KindText, "secret-env", "", "Environment variable of the service with the secret shared with the caller."),
		field(keytable.KindText, "secret-file", "", "File with the secret. A relative path is relative to the folder of this file."),
		keytable.Field{Kind: keytable.KindChoice, Key: "scheme", Enum: []string{Token, HMAC}, Default: Token, Doc: "How the caller authenticates: by sending the secret, or by signing the body with it."},
		field(keytable.KindText, "header", "", "Header with the secret or the signature. Default: X-Flowrun-Token, or X-Hub-Signature-256 for a signature."),
		field(keytable.KindText, "body-param", "", "Parameter that receives the whole body."),
		field(keytable.KindTextMap, "params", "", "Parameters, and where to find their values in a JSON body: /repository/name."),
		field(keytable.KindText, "delivery-header", "", "Header that identifies a delivery, so that a delivery sent twice starts only one run. Default: X-GitHub-Delivery for a signature."),
	}
})

var webhooks = keytable.Field{Kind: keytable.KindObjectMap, Key: "webhooks", Of: webhook, Doc: "Webhooks with which external systems start tools through the service, by name."}

var servers = keytable.Field{Kind: keytable.KindObjectMap, Key: "mcpServers", Of: server, Doc: "MCP servers whose tools are available, by name."}

var pool = keytable.NewObject("a pool", "What steps share across runs, with pool: in the step.", func() []keytable.Field {
	return []keytable.Field{
		positiveInteger("slots", "How many slots the pool has: how many steps run at the same time, if each takes one."),
		field(keytable.KindText, "rate", "", "How many steps may start in a second, minute or hour, such as 10/m. Default: no limit."),
	}
})

var pools = keytable.Field{Kind: keytable.KindObjectMap, Key: "pools", Of: pool, Short: "slots", Doc: "Pools that steps share across runs, by name; a number is the number of slots."}

var served = keytable.NewObject("serve", "What flowrun serve offers over the network.", func() []keytable.Field {
	return []keytable.Field{
		field(keytable.KindTexts, "tools", "", "Patterns of built-in and discovered tools that network clients may start, such as * or web_*. Default: none."),
	}
})

var refusals = keytable.NewObject("refusals", "What calls of models that are rejected for their arguments say in addition.", func() []keytable.Field {
	return []keytable.Field{
		field(keytable.KindText, "documentation-link", "", "URL of a page about the tools, for the model."),
		field(keytable.KindText, "hint", "", "Text that is added to each hint."),
	}
})

// file describes config.yaml, with all keys.
var file = keytable.NewObject("the configuration", "Settings of flowrun for a project, a user or a machine.", func() []keytable.Field {
	return []keytable.Field{
		section("approvals", approvals, approvals.Doc),
		section("limits", limits, limits.Doc),
		section("artifacts", artifacts, artifacts.Doc),
		section("security", security, security.Doc),
		section("history", history, history.Doc),
		field(keytable.KindDuration, "grace", "10s", "How long a stopped step may take to exit before it is killed."),
		field(keytable.KindTexts, "roots", "", "Folders that built-in tools may use, in addition to the workspace."),
		servers,
		keytable.Field{Kind: keytable.KindObjectMap, Key: "notifications", Of: notification, Doc: "Notifications about runs, by name, in addition to those of the tool's definition."},
		section("smtp", smtp, smtp.Doc),
		section("mcp", used, used.Doc),
		section("tools", discovery, discovery.Doc),
		oldServer,
		oldDiscovery,
		oldCall,
		webhooks,
		pools,
		section("serve", served, served.Doc),
		section("refusals", refusals, refusals.Doc),
	}
}).WithHint("servers", keytable.FixedHint(`did you mean "mcpServers"?`)) // of editors

// shared describes settings.json, which other programs use too.
var shared = keytable.NewObject("the settings", "Settings that are shared with other programs.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Field{Kind: keytable.KindObjectMap, Key: servers.Key, Of: server.Open(), Doc: servers.Doc,
			Foreign: &keytable.Foreign{Spellings: []string{"servers", "context_servers", "mcp_servers", "amp.mcpServers"}, Name: servername.Of}},
		keytable.Field{Kind: keytable.KindObject, Key: "mcp", Of: used.Open(), Doc: used.Doc, Foreign: &keytable.Foreign{Objects: servers.Key}},
		section("tools", discovery.Open(), discovery.Doc),
		oldServer,
		oldDiscovery,
		oldCall,
	}
}).Open()

// trustedSections are the keys that a project may set only if it is trusted.
var trustedSections = []string{"mcpServers", "mcp", "notifications", "tools", "approvals.allow", "roots", "history", "webhooks", "pools", "serve", "refusals", "smtp"}

func needsTrust(key string) bool {
	for _, g := range trustedSections {
		if key == g || strings.HasPrefix(key, g+".") {
			return true
		}
	}
	return false
}

// isLimit reports whether a key limits what runs may use. A project that is not trusted may
// lower such a limit, but not raise it.
func isLimit(key string) bool {
	return key == "grace" || strings.HasPrefix(key, "limits.") || strings.HasPrefix(key, "artifacts.")
}

// leaf is a key that holds a value.
type leaf struct {
	key   string
	field keytable.Field
}

// variable returns the name of the environment variable that sets the key.
func (l leaf) variable() string {
	return "FLOWRUN_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(l.key))
}

// parts splits the value of a variable: a list may have several elements.
func (l leaf) parts(value string) []string {
	switch {
	case l.field.Kind != keytable.KindTexts:
		return []string{value}
	case l.key == "roots":
		return strings.FieldsFunc(value, func(r rune) bool { return r == os.PathListSeparator })
	}
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
}

// leaves returns the keys that have a variable. Those of mcpServers, mcp, notifications, tools
// and webhooks have none, because a variable could then start programs; those of smtp have none,
// because a server of the environment could then get the password of the settings.
func leaves() (list []leaf) {
	for _, f := range file.Fields() {
		switch {
		case f.Kind == keytable.KindObject && f.Key != "tools" && f.Key != "mcp" && f.Key != "smtp":
			for _, in := range f.Of.Fields() {
				list = append(list, leaf{f.Key + "." + in.Key, in})
			}
		case f.Kind != keytable.KindObject && f.Kind != keytable.KindObjectMap && spellings[f.Key] == "":
			list = append(list, leaf{f.Key, f})
		}
	}
	return list
}

// Keys returns the keys that config get accepts, in the order of the table. For mcpServers,
// notifications and webhooks that is only the section.
func Keys() (keys []string) {
	for _, s := range settings() {
		keys = append(keys, s.key)
	}
	return keys
}

// settings returns the fields of Keys.
func settings() (list []leaf) {
	for _, f := range file.Fields() {
		if f.Kind != keytable.KindObject {
			list = append(list, leaf{f.Key, f})
			continue
		}
		for _, in := range f.Of.Fields() {
			list = append(list, leaf{f.Key + "." + in.Key, in})
		}
	}
	return slices.DeleteFunc(list, func(l leaf) bool { return spellings[l.key] != "" })
}

// Schema returns the JSON Schema (draft-07) of config.yaml, as indented JSON.
func Schema() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(keyschema.Of(file, "flowrun configuration"))
	return b.Bytes(), err
}
