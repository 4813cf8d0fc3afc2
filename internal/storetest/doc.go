// Package storetest is the contract of history.Store as tests: every
// implementation runs Test. What a store says to its owners when they lose a run
// while they live can only be tested where that happens: see Lapser.
package storetest
