package call

// Inherit takes over what a tool has of the one that uses it.
func (a *Args) Inherit(outer *Args) {
	a.answers, a.Cache, a.Answerable, a.State, a.Tools, a.Calling = outer.answers, outer.Cache, outer.Answerable, outer.State, outer.Tools, outer.Calling
	a.Confine = a.Confine.Within(outer.Confine)
}
