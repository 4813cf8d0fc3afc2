package ui

import "github.com/flowrun/flowrun/hooks"

// JavaScript is what runs scripts for this program, with the limits of the settings. Main
// ends it. Settings that cannot be read are told by what needs more of them.
func (env *Env) JavaScript() *hooks.Runtime {
	if env.scripts == nil {
		var c hooks.Config
		if s := env.bounds(); s != nil {
			c.Timeout, c.Memory = s.Duration("limits.js-timeout"), s.Number("limits.js-memory")
		}
		env.scripts = hooks.New(c)
	}
	return env.scripts
}

// EndScripts ends the processes that ran scripts.
func (env *Env) EndScripts() {
	if env.scripts != nil {
		env.scripts.Close() // there is nobody to tell of a process that is gone already
	}
}
