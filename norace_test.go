//go:build !race

package flowrun_test

const raceEnabled = false
