// Package keytable decodes YAML and JSON by a table. An [Object] in the table describes a mapping: its keys, their
// values, and where each value is stored. The reference page and the JSON Schema are generated from the same table. A
// [Decoder] walks a document with it. It stores values in the Go value that belongs to the Object, and reports all
// problems as diagnostics with their position and a hint. [DecodeSettings] reads settings files, whose values are kept
// one by one.
//
// The package does not know the keys of tools and configuration files: their tables are in other packages.
package keytable
