// Package discovery finds tools by a command that tells of them, which another command
// calls.
//
// # The model
//
// [Discover] starts the first command once, without a shell and within bounds ([Limit],
// [MaxDeclarations]), and reads what it printed: a JSON array of declarations, in any of the forms that
// providers of models use ([Read]). Of each comes a tool.Definition whose one step starts
// the second command with the tool's name as its last argument. From there on it is a tool
// like any other; the root package runs it.
//
// What the command says is data. A declaration that is no good is left out with a reason
// and does not harm its neighbours, and a description is shown, never followed. Whether a
// command may be started at all is not decided here.
package discovery
