package hooks

import "github.com/flowrun/flowrun/internal/js/jsrun"

// Config configures a Runtime. The zero Config works in a program that calls flowrun.HelperMain.
// With InProcess scripts run in this process: their memory is not limited then, and a script that
// is inside one long operation cannot be stopped. Helper is the path of a program that is started
// instead of this one. Timeout limits each call, to 5 seconds if it is 0, and Memory the bytes of
// a child process, to 128 MiB.
type Config = jsrun.Config

// Runtime runs scripts. It is safe for concurrent use. Its method Close ends its child processes.
type Runtime = jsrun.Runtime

// New returns a Runtime. It starts no process before the first call.
func New(c Config) *Runtime { return jsrun.New(c) }
