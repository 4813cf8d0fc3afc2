// Package toolfiles manages tools as files.
//
// A scope is a folder, and a tool is one file in it.
//
// A Draft is a definition that is built key by key. Check reports what is wrong with a text
// before it becomes a file, with the locations that it will have there. Filter and Order
// select and sort a list of tools.
//
// Nothing here prompts, prints, writes files or starts an editor: the command line does
// that, and writes with internal/os/atomicfile.
package toolfiles
