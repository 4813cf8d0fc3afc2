// Package jsonschema validates values against JSON Schemas: draft 2020-12, and draft-07 for schemas that
// declare it.
//
// docs/dev/decisions/15-json-schema.md says why this is not a library. This package does nothing before
// Compile is called. It has what flowrun needs: one document at a time, all problems together, each with
// its path and a message for people.
//
// Compile works in three steps. It reads the document into nodes and reports every keyword of a wrong
// type (read.go, keywords.go). It connects $ref and $dynamicRef to the nodes they refer to (refs.go). It
// rejects schemas that refer back to themselves for the same value, because checking them would not end.
// Validate walks a value and the nodes together (check.go, object.go, array.go).
//
// Numbers are decimals of any length and are never rounded (number.go): 0.3 is a multiple of 0.1, and two
// integers beyond 2^53 are distinct. Patterns are those of ECMAScript as far as RE2 supports them
// (pattern.go); look-around and back-references are rejected. All formats of the draft are checked,
// except idn-hostname (format.go). Unknown formats, contentEncoding and contentMediaType are not checked.
// $vocabulary is ignored. A $ref to another document is a problem of the schema: the package never loads
// anything.
package jsonschema
