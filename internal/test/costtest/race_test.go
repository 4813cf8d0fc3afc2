//go:build race

package costtest

const raceEnabled = true
