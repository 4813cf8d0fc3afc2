// Package launch is what the commands that start something share.
//
// Words of the command line become parameters (params.go, ask_params.go), the policy and a
// person say whether the call may go ahead, which the audit list keeps (consent.go,
// audit.go), and flags and settings become the configuration of an engine, with traces,
// metrics and notifications (engine.go, traces.go, metrics.go, notify.go). It prints no
// results and does not narrate.
package launch
