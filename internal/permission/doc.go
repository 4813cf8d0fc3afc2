// Package permission reads the entries of security.required-permissions and decides what
// they allow: a resolved list of permissions and a request go in (a host, a path, a
// program, a variable, a tool), nil or an error that names the missing permission comes out.
//
// Paths are compared where they really lead, past symbolic links. The package does not know
// who asks: packages call and script resolve the permissions of a call and ask here.
package permission
