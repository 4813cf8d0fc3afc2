package procid

func (i Identity) state() Liveness { return Unknown }
