package value

// VariablePattern is the form of the name of an environment variable, as a regular expression.
const VariablePattern = `^[A-Za-z_][A-Za-z0-9_]*$`

// IsVariableName reports whether s is a valid name of an environment variable, as VariablePattern says.
func IsVariableName(s string) bool {
	for i, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || i > 0 && r >= '0' && r <= '9') {
			return false
		}
	}
	return s != ""
}
