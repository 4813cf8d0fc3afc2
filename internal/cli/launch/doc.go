// Package launch holds what all commands that start runs share.
//
// It converts arguments to parameters (params.go, ask_params.go), asks the policy and the user
// whether a call is allowed and records the answer in the audit log (consent.go, audit.go), and
// configures an engine from flags and settings, with traces, metrics and notifications (engine.go,
// traces.go, metrics.go, notify.go). It prints neither results nor progress.
package launch
