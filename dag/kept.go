package dag

// Kept is what a step leaves beside its streams and outputs. Few steps do, so a Result holds it behind a pointer.
type Kept struct {
	// State are the values that the step sets for later runs, or the steps of a graph together.
	State []StateChange `json:"state,omitempty"`
	// Artifacts are the files that were kept of the step.
	Artifacts []Artifact `json:"artifacts,omitempty"`
}

// State returns the values that the step sets for later runs.
func (r *Result) State() []StateChange {
	if r.Kept == nil {
		return nil
	}
	return r.Kept.State
}

// SetState replaces what State returns. It does not change other copies of the result.
func (r *Result) SetState(list []StateChange) { r.keep(func(k *Kept) { k.State = list }) }

// Artifacts returns the files that were kept of the step.
func (r *Result) Artifacts() []Artifact {
	if r.Kept == nil {
		return nil
	}
	return r.Kept.Artifacts
}

// SetArtifacts replaces what Artifacts returns. It does not change other copies of the result.
func (r *Result) SetArtifacts(list []Artifact) { r.keep(func(k *Kept) { k.Artifacts = list }) }

// keep changes a copy of Kept.
func (r *Result) keep(change func(*Kept)) {
	var k Kept
	if r.Kept != nil {
		k = *r.Kept
	}
	change(&k)
	r.Kept = nil
	if len(k.State)+len(k.Artifacts) > 0 {
		r.Kept = &k
	}
}
