// Package schematest validates documents against the JSON Schemas of flowrun, in tests.
//
// The published schemas allow unknown fields, because a later release may add some. A test needs
// the opposite: a field that no schema describes was forgotten there. So this package closes every
// object of a schema before it validates, and checks the formats of dates.
package schematest
