// Package permission parses the entries of security.required-permissions and decides what they allow. It
// checks a request (for a host, a path, a program, a variable or a tool) against a list of resolved
// permissions, and returns nil or an error that names the missing permission.
//
// Paths are compared after symbolic links are resolved. The package does not know who asks: packages call
// and script resolve the permissions of a call and pass them in.
package permission
