// Package hooks loads tools that are JavaScript files, .tool.js and .tool.ts, and runs the
// JavaScript of definitions.
//
// # The model
//
// A [Runtime] runs scripts: those before and after a step, js: steps, transforms of parameters,
// and tools. Each call gets a new JavaScript environment that contains the language and the
// variables of the call. It has no access to files, network or processes, and cannot set the
// clock. Scripts run in child processes, which are this program started again (see
// flowrun.HelperMain), or in this process.
//
// A tool describes itself: [Loader] runs the methods of its file, and makes a definition of what
// they return. A description is kept in a cache, and a file that needs other modules is bundled
// with them first.
package hooks
