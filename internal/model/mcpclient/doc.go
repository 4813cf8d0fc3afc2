// Package mcpclient makes the tools of servers of the Model Context Protocol tools of flowrun.
//
// A Client has one remote for each server that the settings name (server.go). It makes definitions
// of the tools that a server lists (tool.go) and calls them (call.go). A remote connects when it is
// needed, and again when the connection, a link, was lost (link.go). A call whose outcome is unknown
// is not repeated.
//
// Nothing that a server sends is trusted: texts are cleaned, and everything has a limit. A server
// whose tools need no approval is asked about again when one of them changes (trust.go).
//
// A person signs in to a server that requires it (signin.go); the token is stored and renewed
// (tokens.go). The server names the authorization server, which elsewhere.go guards. A server may ask
// the model (sampling.go) and the user (elicit.go), during a call of one of its tools.
//
// What differs between versions of the protocol is left to the library
// github.com/modelcontextprotocol/go-sdk.
package mcpclient
