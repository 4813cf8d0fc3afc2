// Package config reads what people set about flowrun itself: how long a stopped step may
// take, how much history is kept, which tools may be called.
//
// # The model
//
// One table of keys (table.go) reads the files, makes their JSON Schema and names the
// variables. Settings come in layers, the stronger over the weaker:
//
//	environment   FLOWRUN_GRACE=3s
//	project       .flowrun/config.yaml, then .flowrun/settings.json (mcpServers and tools)
//	user          $XDG_CONFIG_HOME/flowrun/config.yaml, default ~/.config
//	system        /etc/flowrun/config.yaml
//	default
//
// Flags stand above all of them and belong to their commands. A single value is the
// strongest layer's; lists (approvals.allow, approvals.deny, roots, tools.webAllow) add up, so that no
// layer can drop what another one denies. A server of mcpServers, or a webhook, is taken
// whole from the strongest layer that names it. Every value knows its Origin.
//
// # Trust
//
// A project may come from anywhere. Those of its settings that start programs, widen
// rights or remove history are ignored until a person has trusted the project: its folder
// together with a digest of just these settings, so that a change of them asks again
// (trust.go).
package config
