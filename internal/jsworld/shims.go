package jsworld

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed shims
var shimFiles embed.FS

// shimParts are the modules that are a member of another.
var shimParts = map[string]string{
	"assert/strict":   `require("assert").strict`,
	"fs/promises":     `require("fs").promises`,
	"path/posix":      `require("path").posix`,
	"timers/promises": `require("timers").promises`,
	"util/types":      `require("util").types`,
}

// shimGlobals are the globals that come from a shim, which is read when one of them is
// used first.
var shimGlobals = map[string]string{
	"AbortController": "internal/dom", "AbortSignal": "internal/dom", "DOMException": "internal/dom", "structuredClone": "internal/dom",
	"Buffer": "buffer", "TextDecoder": "buffer", "TextEncoder": "buffer", "atob": "buffer", "btoa": "buffer",
	"CustomEvent": "events", "Event": "events", "EventTarget": "events",
	"Headers": "internal/fetch", "Request": "internal/fetch", "Response": "internal/fetch", "fetch": "internal/fetch",
	"URL": "url", "URLSearchParams": "url",
	"console":    "internal/console",
	"setTimeout": "internal/timers", "setInterval": "internal/timers", "setImmediate": "internal/timers",
	"clearTimeout": "internal/timers", "clearInterval": "internal/timers", "clearImmediate": "internal/timers",
	"queueMicrotask": "internal/timers",
}

// Shim is the text of a module that a world has without Node.js (issue 7, part 4): the
// body of a CommonJS module, which may require other shims.
func Shim(name string) (code string, ok bool) {
	name = strings.TrimPrefix(name, "node:")
	if part, ok := shimParts[name]; ok {
		return "module.exports = " + part, true
	}
	text, err := shimFiles.ReadFile("shims/" + name + ".js")
	return string(text), err == nil
}

// lacking is the text of a module that is neither a shim nor in the bundle. It fails when
// it is used, or, of Node.js's modules, when a member of it is; while a tool only says what
// it is, nothing comes of it.
func lacking(name string, describing bool) string {
	name = strings.TrimPrefix(name, "node:")
	first, _, _ := strings.Cut(name, "/")
	how := fmt.Sprintf("missing(%q)", name)
	switch {
	case describing:
		how = "inert()"
	case slices.Contains(absentModules, first):
		how = fmt.Sprintf("absent(%q)", name)
	}
	return `module.exports = require("internal/absent").` + how
}

// absentModules are those of Node.js that no world has; require of one gives a stand-in
// that throws when it is used.
var absentModules = strings.Fields(`async_hooks child_process cluster console constants crypto dgram
	diagnostics_channel dns domain http http2 https inspector module net perf_hooks process punycode readline
	repl stream string_decoder sys tls trace_events tty v8 vm wasi worker_threads zlib`)
