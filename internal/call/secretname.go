package call

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// tellUnnamed tells of names in environment.secrets that are nowhere, so that nothing is
// hidden, and look like one that is: others are of variables that need not be set. What env
// files of steps hold is not known yet: with such files it tells nothing.
func (a *Args) tellUnnamed() {
	names, files := a.Plan.NamedInside()
	if files {
		return
	}
	for _, s := range a.Plan.Secrets {
		if _, ok := a.env(s.S); ok || slices.Contains(names, s.S) {
			continue
		}
		all := slices.Concat(names, slices.Sorted(maps.Keys(a.own)), slices.Sorted(maps.Keys(a.World.Vars)))
		if near := tool.Near(s.S, all); len(near) > 0 {
			a.session.Notify(steps.Notice{Code: steps.NoticeUnset, Message: fmt.Sprintf("the secret %s of tool %s names nothing, so nothing is hidden by it; did you mean %s?",
				s.S, a.Plan.Name(), near[0])})
		}
	}
}
