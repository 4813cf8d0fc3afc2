// Package toolfiles keeps tools as files that people manage.
//
// A scope is a folder, a tool is one file in it.
//
// A Draft is a definition that is being put together from single keys. Check says what
// is wrong with a text before it becomes a file, with the places it will have there.
// Filter and Order are what a listing asks for.
//
// Nothing here asks, prints, writes files or starts an editor: that is the command
// line's, which writes with internal/atomicfile.
package toolfiles
