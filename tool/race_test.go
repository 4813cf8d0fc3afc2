//go:build race

package tool

// slack widens bounds on time: the race detector makes code several times slower.
const slack = 10
