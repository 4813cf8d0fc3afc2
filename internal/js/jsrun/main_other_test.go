//go:build !linux

package jsrun

const asProgram = "HOOKS_TEST_PROGRAM"

func runProgram(string) {}
