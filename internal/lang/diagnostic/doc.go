// Package diagnostic describes problems in files and the text they are about. A [Source] is a file with an index of its
// lines; it converts offsets to positions and makes the edits that fix a problem. A [Text] is a string that was read
// from a file; it knows the position of each of its characters in that file. A [Diagnostic] is a problem with its
// position and a hint; [Render] shows it to people.
//
// The package does not know what files mean: neither YAML nor the keys of definitions.
package diagnostic
