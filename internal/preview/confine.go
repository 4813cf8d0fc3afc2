package preview

import (
	"strings"

	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/helper"
)

// foreseeConfinement says what of a command's security could not be kept here.
func foreseeConfinement(a *call.Args) string {
	var why []string
	for _, err := range a.Confine.Check(helper.Enabled(), a.World.Env) {
		why = append(why, err.Error())
	}
	return strings.Join(why, "; ")
}
