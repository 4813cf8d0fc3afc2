package waiting

import (
	"errors"

	"github.com/flowrun/flowrun/internal/engine/requesturl"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// Poller runs a wait step that waits for something outside of flowrun.
type Poller struct{ *steps.Poller }

// CheckFile rejects an empty path.
func CheckFile(path string) error {
	if path == "" {
		return errors.New("the path of the file to wait for is empty")
	}
	return nil
}

// Describe returns what the step waits for, in words.
func (l Poller) Describe(show func(*expr.Template) string) string {
	switch {
	case l.File != nil:
		return "for file " + show(l.File)
	case l.Port != nil:
		return "for port " + show(l.Port)
	}
	return "for " + show(l.URL)
}

// WaitsFor returns the template of what the step waits for, and a function that checks it with the
// values of a call.
func (l Poller) WaitsFor() (*expr.Template, func(expr.Scope) error) {
	switch {
	case l.File != nil:
		return l.File, rendered(l.File, CheckFile)
	case l.Port != nil:
		return l.Port, rendered(l.Port, steps.CheckPort)
	}
	return l.URL, func(sc expr.Scope) error { _, err := requesturl.Render(l.URL, sc); return err }
}
