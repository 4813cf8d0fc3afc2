// Package mcp lets clients of the Model Context Protocol call the tools of flowrun.
//
// # The model
//
// A Server offers every tool as a typed tool of its own (tools.go), and execute_tool, which
// calls any of them by name (execute.go). It compiles a tool when a client asks for it
// (list.go). All calls go through registry.Registry: it parses the arguments and repairs them,
// applies the policy, runs the tool and returns one Answer (call.go). result.go translates the
// Answer into a result of the protocol.
//
// An error of the protocol means that the request itself was wrong. Everything that can
// happen to a call, such as invalid arguments, a refusal or a failed run, is a result with
// isError, so that the model can read it.
//
// A call that needs the approval of a person is answered in two rounds (approval.go). The
// first result asks the client to show the person what would run. The client repeats the
// call with the answer. A client of an older version of the protocol gets a question during
// the call instead; the library translates between the two.
//
// A Server works over stdin and stdout (Serve) and over HTTP (Handler). What differs between
// versions of the protocol is left to the library github.com/modelcontextprotocol/go-sdk.
// All are safe for concurrent use.
package mcp
