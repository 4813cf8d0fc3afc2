// Package diagnostic holds what is wrong with a file, and the text that it is about. A
// [Source] is a file with an index of its lines; it turns offsets into places and makes the
// edits that fix a problem. A [Text] is a string that was read from a file and knows where
// each of its characters stands there. A [Diagnostic] names a problem, its place and the way
// out; [Render] draws it for people.
//
// The package does not know what files mean: neither YAML nor the keys of definitions.
package diagnostic
