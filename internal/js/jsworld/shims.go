package jsworld

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed shims
var shimFiles embed.FS

// shimParts maps modules that are a member of another module to the code that returns it.
var shimParts = map[string]string{
	"assert/strict":   `require("assert").strict`,
	"fs/promises":     `require("fs").promises`,
	"path/posix":      `require("path").posix`,
	"timers/promises": `require("timers").promises`,
	"util/types":      `require("util").types`,
}

// shimGlobals maps globals to the built-in module that implements them. The module is loaded
// when one of its globals is first used.
var shimGlobals = map[string]string{
	"AbortController": "internal/dom", "AbortSignal": "internal/dom", "DOMException": "internal/dom", "structuredClone": "internal/dom",
	"Blob": "internal/blob", "File": "internal/blob", "FormData": "internal/form",
	"ReadableStream": "internal/streams", "WritableStream": "internal/streams", "TransformStream": "internal/streams",
	"TextDecoderStream": "internal/streams", "TextEncoderStream": "internal/streams",
	"Buffer": "buffer", "TextDecoder": "buffer", "TextEncoder": "buffer", "atob": "buffer", "btoa": "buffer",
	"CustomEvent": "events", "Event": "events", "EventTarget": "events",
	"Headers": "internal/fetch", "Request": "internal/fetch", "Response": "internal/fetch", "fetch": "internal/fetch",
	"URL": "url", "URLSearchParams": "url",
	"console":    "internal/console",
	"crypto":     "internal/webcrypto",
	"Intl":       "internal/intl", // also without the host API, see addLanguage
	"setTimeout": "internal/timers", "setInterval": "internal/timers", "setImmediate": "internal/timers",
	"clearTimeout": "internal/timers", "clearInterval": "internal/timers", "clearImmediate": "internal/timers",
	"queueMicrotask": "internal/timers",
	"performance":    "perf_hooks",
	"WeakRef":        "internal/weak", "FinalizationRegistry": "internal/weak",
}

// Shim returns the code of a built-in module, which replaces a module of Node.js. The code is
// the body of a CommonJS module and may require other built-in modules.
func Shim(name string) (code string, ok bool) {
	name = strings.TrimPrefix(name, "node:")
	if part, ok := shimParts[name]; ok {
		return "module.exports = " + part, true
	}
	text, err := shimFiles.ReadFile("shims/" + name + ".js")
	return string(text), err == nil
}

// OfNode reports whether a name is that of a module of Node.js, whether it is built in here or not.
func OfNode(name string) bool {
	name, prefixed := strings.CutPrefix(name, "node:")
	first, _, _ := strings.Cut(name, "/")
	_, builtIn := Shim(first)
	return prefixed || builtIn || slices.Contains(absentModules, first)
}

// missingModule returns the code of a module that is neither built in nor in the bundle.
// Requiring a package throws; a module of Node.js can be required, and using one of its members
// throws. While a tool is only described, nothing throws. tool is the id of the tool if it declares the
// package, else "".
func missingModule(name, tool string, describing bool) string {
	name = strings.TrimPrefix(name, "node:")
	first, _, _ := strings.Cut(name, "/")
	how := fmt.Sprintf("missing(%q, %q)", name, tool)
	switch {
	case describing:
		how = "inert()"
	case slices.Contains(absentModules, first):
		how = fmt.Sprintf("absent(%q)", name)
	}
	return `module.exports = require("internal/absent").` + how
}

// absentModules are the modules of Node.js that no world has. Requiring one succeeds; using a
// member of it throws.
var absentModules = strings.Fields(`async_hooks child_process cluster console constants dgram
	diagnostics_channel dns domain http http2 https inspector module net process punycode readline
	repl stream string_decoder sys tls trace_events tty v8 vm wasi worker_threads zlib`)
