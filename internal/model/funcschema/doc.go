// Package funcschema describes tools to language models: it turns a definition into a function declaration
// in the dialect of one provider.
//
// A declaration is a name, a description and a JSON Schema of the parameters. Of builds it from a
// tool.Definition in three steps:
//
//  1. Every parameter becomes a schema (parameter.go). Its type comes from the tool's parameter-mapping,
//     its rules become keywords of JSON Schema. The default and the examples are included if the
//     tool's function-calling section asks for them.
//  2. Names are changed to what every provider accepts (name.go).
//  3. What the provider of the dialect does not accept is removed, and written in the description
//     instead (dialect.go).
//
// Function.MarshalJSON adds the envelope of the dialect. A tool with its own JSON Schema, such as a
// .tool.js, is declared with that schema, without what the dialect does not accept (own_schema.go).
//
// A declaration contains only what a caller may know. Of a secret parameter it has the type, the
// description, and the required length and pattern. It has nothing of the tool's security section. A
// default with a reference is left out, because its value is known only when the tool runs.
package funcschema
