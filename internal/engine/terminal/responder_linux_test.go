package terminal

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

// A step that reads for ever gets only so many default responses. That the step is stopped then,
// TestNobodyAnswers proves with the ends of its input, which are fewer.
func TestDefaultResponsesAreCounted(t *testing.T) {
	terminal, err := newTTY(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	defer terminal.closeSlave()
	personGone := make(chan struct{})
	close(personGone)
	var given error
	a := responder{Dialog: &Dialog{Interactive: &Interactive{Default: &expr.Template{}}, personGone: personGone, tty: terminal, defaultResponse: "y"},
		cancel: func(cause error) { given = cause }}
	for range maxResponses {
		if !a.respond() {
			t.Fatalf("given up after %d responses", a.responses)
		}
	}
	typed := make([]byte, 2*maxResponses+1)
	if n, err := terminal.slave.Read(typed); err != nil || string(typed[:n]) != "y\n" {
		t.Errorf("the step reads %q, %v", typed[:n], err)
	}
	if a.respond() || given == nil || !strings.Contains(given.Error(), "after 50 default responses; use another default-response") {
		t.Errorf("%d responses, %v", a.responses, given)
	}
}
