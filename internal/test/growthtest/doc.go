// Package growthtest holds that flowrun's work grows like the definitions that it is given, and no faster: in each shape
// of definitions (a list of steps, parameters, groups in groups, ...) and each command, four times the units cost
// about four times as much.
//
// It counts the bytes and the objects that the command allocates, which repeat on every machine, and measures the
// processor time and the memory of the process.
//
// TestGrowth is the table. A new command needs a row in it or a reason in commands_test.go, a new kind of step a shape;
// TestCommands and TestShapes fail without. docs/explanation/performance.md says which they are:
//
//	go test ./internal/test/growthtest -run Page -update
package growthtest
