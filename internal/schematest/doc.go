// Package schematest holds documents against their JSON Schemas, in tests.
//
// The schemas that flowrun publishes allow fields they do not know, because a
// later release may add some. A test wants the opposite: a field that no schema
// describes was forgotten there. So this package closes every object of a schema
// before it validates, and demands that dates are dates.
package schematest
