// Package costtest counts what flowrun uses for the work of bench, and compares each count
// with its bound in testdata/bounds.txt. It counts what repeats on every machine and under any
// load: system calls, processes, bytes, allocations, page faults, mapped pages. It measures no time; for
// that there is bench.
//
//	CGO_ENABLED=0 GOFLAGS=-trimpath go test ./internal/test/costtest -v        # prints all counts with their bounds
//	CGO_ENABLED=0 GOFLAGS=-trimpath go test ./internal/test/costtest -update   # sets the bounds to 15 % above the counts
//
// After an improvement, lower the bounds with -update, or the cost comes back unnoticed. A
// bound that has to rise needs the reason in its commit.
//
// Each count is the lowest of some runs. What disturbs a run, such as a busy machine, only
// adds to it. System calls that the Go runtime makes as its threads wait and wake up are not
// counted, because their number depends on the load.
package costtest
