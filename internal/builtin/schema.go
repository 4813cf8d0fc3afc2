package builtin

import "github.com/flowrun/flowrun/tool"

// schema reads the JSON Schema of a tool's parameters, which is part of the program.
func schema(source string) *tool.JSONSchema {
	s, err := tool.ParseSchema([]byte(source))
	if err != nil {
		panic(err)
	}
	return s
}
