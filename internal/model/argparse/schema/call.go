package schema

import (
	"slices"
	"strings"
	"unicode"
)

// Call is what is declared for a call.
type Call struct {
	Root    *Schema
	Tool    string // "" if it is not known
	indexes map[*Schema]*index
}

// IsTool reports whether a name is that of the called tool, if it is known.
func (r *Call) IsTool(name string) bool { return r.Tool != "" && SameTool(name, r.Tool) }

// InputName reports whether a name is that of a parameter.
func (r *Call) InputName(name string) bool { return r.Declares(r.Root, name) }

// RequiresSome reports whether a call without arguments is invalid.
func (r *Call) RequiresSome() bool {
	return slices.ContainsFunc(r.Root.Properties, func(p Property) bool { return p.Required && !p.HasDefault })
}

// Declares reports whether an object declares a name, in any spelling.
func (r *Call) Declares(s *Schema, name string) bool {
	p, _ := r.Property(s, name)
	return p >= 0
}

// Property returns the index of the property that a name refers to, exactly or as its only folded match, or -1.
func (r *Call) Property(s *Schema, key string) (i int, exact bool) {
	if s == nil || len(s.Properties) == 0 {
		return -1, false
	}
	if len(s.Properties) <= maxUnindexed {
		for i := range s.Properties {
			if s.Properties[i].Name == key {
				return i, true
			}
		}
	}
	x := r.indexes[s]
	if x == nil {
		x = newIndex(s)
		if r.indexes == nil {
			r.indexes = map[*Schema]*index{}
		}
		r.indexes[s] = x
	}
	if i, ok := x.exact[key]; ok {
		return i, true
	}
	if len(key) > MaxFoldedName {
		return -1, false
	}
	if i, ok := x.folded[Fold(key)]; ok {
		return i, false
	}
	return -1, false
}

// index finds the properties of a schema by their exact and folded names.
type index struct {
	exact  map[string]int
	folded map[string]int // -1 if several names fold to it
}

// maxUnindexed is the number of properties that are searched without an index.
const maxUnindexed = 12

// MaxFoldedName limits the length of names that are folded.
const MaxFoldedName = 1 << 10

func newIndex(s *Schema) *index {
	x := &index{exact: make(map[string]int, len(s.Properties)), folded: make(map[string]int, len(s.Properties))}
	for i := range s.Properties {
		name := s.Properties[i].Name
		x.exact[name] = i
		f := Fold(name)
		if _, taken := x.folded[f]; taken {
			i = -1
		}
		x.folded[f] = i
	}
	return x
}

// An envelope is an object around the arguments: {"name": "search", "arguments": {...}}. These are its keys. A key that is
// a declared parameter is never part of an envelope.
var (
	toolWords = []string{"name", "tool", "tool_name", "toolName", "function_name", "function", "action", "recipient_name"}
	argsWords = []string{"arguments", "parameters", "args", "input", "params", "kwargs", "tool_input", "action_input", "toolInput", "function_args", "tool_args", "tool_arguments", "tool_parameters"}
	// callWords are the keys of an object with one call.
	callWords = []string{"function", "function_call", "functionCall", "tool_call", "toolCall"}
)

// CallsWord is the key of a list of calls.
const CallsWord = "tool_calls"

// IsCallWord reports whether a name is the key of a call in an envelope.
func IsCallWord(s string) bool { return slices.Contains(callWords, s) }

// IsArgsWord reports whether a name is the key of the arguments in an envelope.
func IsArgsWord(s string) bool { return slices.Contains(argsWords, s) }

// IsToolWord reports whether a name is the key of the name of the tool in an envelope.
func IsToolWord(s string) bool { return slices.Contains(toolWords, s) }

// Fold returns the same word for all spellings of a name: fileName, file_name, File-Name, FILE NAME.
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

// SameTool reports whether two names refer to the same tool. The last part of a dotted name is sufficient.
func SameTool(given, tool string) bool {
	g, t := Fold(given), Fold(tool)
	return g == t || LastPart(g) == t || g == LastPart(t)
}

// LastPart returns the part of a dotted name after its last dot.
func LastPart(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }
