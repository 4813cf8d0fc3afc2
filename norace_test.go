//go:build !race

package flowrun_test

// slack widens bounds on time; see race_test.go.
const slack = 1
