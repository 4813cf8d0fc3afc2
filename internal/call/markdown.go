package call

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/tool"
)

// argument is what a reference to the arguments of the call stands for: all of them as an
// object, or one.
func (s Scope) argument(r expr.Ref) (expr.Value, error) {
	if len(r.Path) == 0 {
		all := expr.Value{Author: true}
		for _, v := range s.Args.Values {
			all.Caller = all.Caller || v.Caller
		}
		all.V = s.Args.All()
		return all, nil
	}
	v, ok := s.Args.Values[r.Path[0].Field]
	if !ok || r.Path[0].IsIndex {
		return v, errNoPart
	}
	r.Path = r.Path[1:]
	return within(v, r)
}

// optional says whether a reference reads a declared parameter that was not given, from
// what pre-processing made of the arguments: it is absent then, and no mistake.
func (s Scope) optional(r expr.Ref) bool {
	if r.Root != plan.StepPre || len(r.Path) != 2 || s.Args.Plan.Definition.Format != tool.Markdown {
		return false
	}
	v, declared := s.Args.Values[r.Path[1].Field]
	return declared && v.Absent
}

// randomID is a text that only this run has, and that it keeps when it is taken up again
// (S0-064).
func (a *Args) randomID() (expr.Value, error) {
	if a.run == "" { // a preview
		return expr.Value{}, expr.ErrUnknown
	}
	sum := sha256.Sum256([]byte("random_id " + a.run))
	return expr.Value{V: hex.EncodeToString(sum[:8]), Author: true}, nil
}
