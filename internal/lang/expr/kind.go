package expr

// kind is what a value can be, as far as the definition shows before it runs.
type kind int

const (
	kindAny    kind = iota // not known before the run
	kindText               // text from outside that may hold a number: output, error, env
	kindString             // text that is not a number: a string parameter, a status
	kindNumber
	kindBool
	kindArray
	kindObject
	kindNil
)

// String returns the kind with its article, for messages.
func (k kind) String() string {
	return [...]string{"a value", "text", "text", "a number", "a boolean", "an array", "an object", "null"}[k]
}

// kindOfType returns the kind of the values of a parameter type.
func kindOfType(typ string) kind {
	switch typ {
	case "string":
		return kindString
	case "number", "integer":
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
