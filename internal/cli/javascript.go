package cli

import "github.com/flowrun/flowrun/hooks"

// javaScript is what runs scripts for this program, with the limits of the settings. Main
// ends it. Settings that cannot be read are told by what needs more of them.
func (a *app) javaScript() *hooks.Runtime {
	if a.scripts == nil {
		var c hooks.Config
		if s := a.bounds(); s != nil {
			c.Timeout, c.Memory = s.Duration("limits.js-timeout"), s.Number("limits.js-memory")
		}
		a.scripts = hooks.New(c)
	}
	return a.scripts
}

// endScripts ends the processes that ran scripts.
func (a *app) endScripts() {
	if a.scripts != nil {
		a.scripts.Close() // there is nobody to tell of a process that is gone already
	}
}
