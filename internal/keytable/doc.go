// Package keytable reads YAML and JSON by a table. An [Object] describes a mapping: its
// keys, what may be the value of each, and how that value is stored; the same table makes
// the reference page and the JSON Schema. A [Decoder] walks a document with it: values go
// into the Go value that belongs to the Object, and everything wrong, with its place and a
// suggestion, into diagnostics. [DecodeSettings] reads files whose values are kept one by
// one.
//
// The package does not know the vocabulary: which keys a tool or a configuration has stands
// in the tables of others.
package keytable
