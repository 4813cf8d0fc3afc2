// Package discovery gets tools from a command that lists them. A second command calls them.
//
// # The model
//
// [Discover] starts the first command once, without a shell and with limits ([Limit],
// [MaxDeclarations]), and reads what it printed: a JSON array of declarations, in any of the
// formats that providers of models use ([Read]). Each becomes a tool.Definition with one
// step, which starts the second command with the tool's name as its last argument. It is then
// a tool like any other; package engine runs it.
//
// The output of the command is data. An invalid declaration is ignored with a reason and does
// not affect the others, and a description is shown, never followed. Whether a command may be
// started at all is decided elsewhere.
package discovery
