package expr

// kind is what a value can be, as far as the definition tells before it runs.
type kind int

const (
	kindAny    kind = iota // not known before the run
	kindText               // text from outside that may hold a number: output, error, env
	kindString             // text that is no number: a string parameter, a status
	kindNumber
	kindBool
	kindArray
	kindObject
	kindNil
)

// String is the kind for a message, with its article.
func (k kind) String() string {
	return [...]string{"a value", "text", "text", "a number", "a boolean", "an array", "an object", "null"}[k]
}

// kindOfType maps a parameter type to what its values are.
func kindOfType(typ string) kind {
	switch typ {
	case "string":
		return kindString
	case "number":
		return kindNumber
	case "boolean":
		return kindBool
	case "array":
		return kindArray
	case "object":
		return kindObject
	}
	return kindAny
}
