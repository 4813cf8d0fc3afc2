package findings

import "strings"

// Property is one key of a command with its value. One without a value is left out.
type Property struct{ Key, Value string }

// WorkflowCommand writes a command that GitHub Actions reads in the log of a job,
// ::name key=value,...::data, in one line without a line end. Name, values and data are
// escaped, so that no text of a definition or of a step ends its command or begins
// another. Line breaks in data are kept, as GitHub writes them.
func WorkflowCommand(name, data string, properties ...Property) string {
	var list []string
	for _, p := range properties {
		if p.Value != "" {
			list = append(list, p.Key+"="+propertyEscapes.Replace(p.Value))
		}
	}
	if len(list) > 0 {
		name += " " + strings.Join(list, ",")
	}
	return "::" + name + "::" + dataEscapes.Replace(data)
}

// What GitHub reads as its own must be escaped; in properties that is more.
var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
