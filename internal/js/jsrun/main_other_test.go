//go:build !linux

package hooks

const asProgram = "HOOKS_TEST_PROGRAM"

func runProgram(string) {}
