package schema

import (
	"slices"
	"strings"
	"unicode"
)

// An envelope is an object around the arguments: {"name": "search", "arguments": {...}}.
// These are its keys. A key that is a declared parameter is never part of an envelope.
var (
	toolWords = []string{"name", "tool", "tool_name", "toolName", "function_name", "function", "action", "recipient_name"}
	argsWords = []string{"arguments", "parameters", "args", "input", "params", "kwargs", "tool_input", "action_input", "toolInput", "function_args", "tool_args", "tool_arguments", "tool_parameters"}
	// callWords are the keys of an object with one call.
	callWords = []string{"function", "function_call", "functionCall", "tool_call", "toolCall"}
)

// CallsWord is the key of a list of calls.
const CallsWord = "tool_calls"

func IsCallWord(s string) bool { return slices.Contains(callWords, s) }

func IsArgsWord(s string) bool { return slices.Contains(argsWords, s) }

func IsToolWord(s string) bool { return slices.Contains(toolWords, s) }

// Fold returns the same word for all spellings of a name: fileName, file_name, File-Name, FILE
// NAME.
func Fold(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x80 || c >= 'A' && c <= 'Z' || c == '-' || c == '_' || c == ' ' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	return strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || unicode.IsSpace(c) {
			return -1
		}
		return unicode.ToLower(c)
	}, s)
}

// SameTool reports whether two names refer to the same tool. The last part of a dotted name is
// sufficient.
func SameTool(given, tool string) bool {
	g, t := Fold(given), Fold(tool)
	return g == t || LastPart(g) == t || g == LastPart(t)
}

func LastPart(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }
