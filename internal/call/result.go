package call

// Shown are the bound parameters as they may leave the process.
func (a *Args) Shown() map[string]any {
	m := make(map[string]any, len(a.Values))
	for name, v := range a.Values {
		if !v.Absent {
			m[name] = Masked(a.Session().Mask(), v.V)
		}
	}
	return m
}
