package hooks

import "github.com/flowrun/flowrun/internal/js/jsrun"

// Config configures a Runtime. The zero Config works in a program that calls flowrun.HelperMain.
// With InProcess scripts run in this process: their memory is not limited then, and a script that
// is inside one long operation cannot be stopped. Helper is the path of a program that is started
// instead of this one. Timeout limits each call, to 5 seconds if it is 0, and Memory the bytes of
// a child process, to 128 MiB.
//
//	type Config struct {
//		// InProcess runs scripts in this process. Their memory is not limited then, and a script
//		// that is inside one long operation (a regular expression, one huge array) cannot be
//		// stopped.
//		InProcess bool
//		Helper    string        // path of a program that calls Main, started as the child; "": this program
//		Timeout   time.Duration // time limit of a call; 0: 5 seconds
//		Memory    int64         // memory limit of a child, in bytes; 0: 128 MiB
//	}
type Config = jsrun.Config

// Runtime runs scripts. It is safe for concurrent use. Its method Close ends its child processes.
//
//	type Runtime struct {
//		// contains filtered or unexported fields
//	}
//
//	// Call runs a script in a new environment and returns its result as JSON, nil for undefined.
//	func (r *Runtime) Call(ctx context.Context, c Call) (json.RawMessage, error)
//
//	// Close ends the child processes.
//	func (r *Runtime) Close() error
//
//	// MemoryLimit returns the memory limit of a child, in bytes.
//	func (r *Runtime) MemoryLimit() int64
type Runtime = jsrun.Runtime

// New returns a Runtime. It starts no process before the first call.
func New(c Config) *Runtime { return jsrun.New(c) }
