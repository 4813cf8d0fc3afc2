package findings

import "strings"

// Property is one property of a workflow command. Properties without a value are omitted.
type Property struct{ Key, Value string }

// WorkflowCommand returns a command that GitHub Actions reads from the log of a job, ::name key=value,...::data, on one
// line without a line break at its end. Values and data are escaped, so that no text of a definition or of a step can
// end the command or begin another. Line breaks in data are kept in GitHub's encoding. name is not escaped.
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

// Characters with a meaning in workflow commands must be escaped. Properties have more of them.
var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
