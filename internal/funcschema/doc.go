// Package funcschema shows tools to language models: it makes the function
// declaration of a definition, in the dialect of one provider.
//
// A declaration is a name, a description and a JSON Schema of the parameters.
// Of makes it from a tool.Definition in three steps. Every parameter
// becomes a schema (parameter.go): its type by the tool's parameter-mapping, its
// rules as the keywords of JSON Schema, its default and examples where the tool's
// function-calling section wants them. Names become what every provider accepts
// (name.go). Then the dialect takes away what its provider refuses and says it in
// the description instead (dialect.go). Function.MarshalJSON writes the envelope.
//
// A tool that has a JSON Schema of its own, as a .tool.js does, is shown with that
// (own.go), without what the dialect refuses.
//
// What is shown is what a caller may know. Of a secret only its type, its
// description and the length and pattern it must have are shown; nothing of the
// tool's security section is. A default that mentions something is left out,
// because it is known only when the tool runs.
package funcschema
