// Package enginetest tests the engine as programs that embed it and definitions see it: through
// package engine, by what runs, in which order, with which result. It holds tests only; they stand
// apart so that the root folder shows what flowrun consists of. Tests run in the root folder.
package enginetest
