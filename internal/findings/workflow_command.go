// Package workflow writes workflow commands, which GitHub Actions reads in the log of a
// job: ::name key=value,...::data. What stands in them is escaped, so that no text of a
// definition or of a step ends its command or begins another.
package workflow

import "strings"

// Property is one key of a command with its value. One without a value is left out.
type Property struct{ Key, Value string }

// Command is a command in one line, without a line end. Line breaks in data are kept, as
// GitHub writes them.
func Command(name, data string, properties ...Property) string {
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
