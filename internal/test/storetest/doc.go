// Package storetest tests the contract of history.Store; every implementation runs Test.
// Some tests need an owner that loses its run while it is alive. They only run for a Store
// that is a Lapser.
package storetest
