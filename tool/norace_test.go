//go:build !race

package tool

// slack widens bounds on time; see race_test.go.
const slack = 1
