// Package catalog keeps tools as files that people manage.
//
// A scope is a folder, a tool is one file in it, and every change is one step that
// happens or does not: the text is written to a temporary file beside its place, synced,
// and then given its name. A new tool gets it by a link, which fails where the name is
// taken: of two processes that add the same tool one wins and the other is told. An
// existing one is replaced by a rename, and only while it still holds what its editor
// began with.
//
// A Draft is a definition that is being put together from single keys. Check says what
// is wrong with a text before it becomes a file, with the places it will have there.
// Filter and Order are what a listing asks for.
//
// Nothing here asks, prints or starts an editor: that is the command line's.
package catalog
