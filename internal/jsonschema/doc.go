// Package jsonschema holds values against JSON Schemas: draft 2020-12, and draft-07 for
// schemas that say so.
//
// The design names a library for this. Importing it cost every start of flowrun five
// milliseconds, used or not: it reads the metaschemas of all drafts when a program
// begins. This package does nothing before Compile is called, and knows what flowrun
// needs: one document at a time, all problems at once, each with the way to it, in words
// for people.
//
// A schema is compiled in three steps. The document is read into nodes (read.go,
// keywords.go), which finds every keyword of a wrong type; $ref and $dynamicRef are
// joined to the nodes that they lead to (refs.go); and what leads back to itself without
// looking at another value is refused, so that no check runs without end. Validate walks
// a value and the nodes together (check.go, object.go, array.go).
//
// Numbers are decimals of any length and are never rounded (number.go): 0.3 is a multiple
// of 0.1, and two integers beyond 2^53 are told apart. Patterns are those of ECMAScript
// as far as RE2 goes (pattern.go); look-around and back-references are refused. The
// formats of the draft are asserted but for idn-hostname (format.go); formats that nobody
// knows, and contentEncoding and contentMediaType, are notes for people. $vocabulary is
// not heeded, and a $ref into another document is a problem of the schema: nothing is
// ever loaded.
package jsonschema
