//go:build !linux

package confine

// WithRights fails: only Linux can reduce rights.
func (Confinement) WithRights(func() error) error { return Available() }
