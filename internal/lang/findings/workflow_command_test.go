package findings

import "testing"

// TestWorkflowCommand: what a text or a value holds cannot end its own command or property.
func TestWorkflowCommand(t *testing.T) {
	for _, c := range []struct {
		data       string
		properties []Property
		want       string
	}{
		{"", nil, "::error::"},
		{"100% wrong\r\n::set-env name=A::b", nil, "::error::100%25 wrong%0D%0A::set-env name=A::b"},
		{"m", []Property{{"file", "a,b:c\n.yaml"}, {"line", ""}, {"title", "50%"}}, "::error file=a%2Cb%3Ac%0A.yaml,title=50%25::m"},
	} {
		if got := WorkflowCommand("error", c.data, c.properties...); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
