// Package config reads the settings of flowrun itself: how long a stopped step may take,
// how much history is kept, which tools may be called.
//
// # The model
//
// One table of keys (table.go) is used to read the files, to make their JSON Schema and to
// name the variables. Settings come in layers; a layer further up overrides those below it:
//
//	environment   FLOWRUN_GRACE=3s
//	project       .flowrun/config.yaml, then .flowrun/settings.json (mcpServers, mcp and tools)
//	user          $XDG_CONFIG_HOME/flowrun/config.yaml, default ~/.config
//	system        /etc/flowrun/config.yaml
//	default
//
// Flags override all of them and belong to their commands. A single value comes from the
// strongest layer that sets it. Lists (approvals.allow, approvals.deny, roots,
// tools.webAllow) are joined, so that no layer can remove what another one denies. A server
// of mcpServers, or a webhook, comes as a whole from the strongest layer that names it. Every
// value knows its Origin.
//
// # Trust
//
// A project may come from anywhere. Those of its settings that start programs, widen
// permissions or remove history are ignored until a person has trusted the project. Trust
// covers the project's folder together with digests of just these settings, so that a new or
// changed setting needs a new decision; a removed one does not (trust.go).
package config
