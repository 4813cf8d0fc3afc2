// Package jsrun runs the JavaScript of definitions: scripts before and after a step, js: steps,
// transforms of parameters, and tools written as .tool.js files.
//
// # The model
//
// A [Script] is checked and compiled once, by [Compile], which reports mistakes with their
// position in the author's file. A [Runtime] runs scripts. Each [Call] gets a new JavaScript
// environment that contains the language and the variables of the call. It has no access to
// files, network or processes, and cannot set the clock. Values are passed in and out as JSON,
// so a script cannot change data of its caller.
//
// Scripts run in child processes, which are this program started again (see [Main]). A child
// runs one call at a time and is reused for the next one. It is killed when a call exceeds its
// limit of time or memory and cannot be stopped otherwise. A script reaches the outside only by
// host calls through [Call].Ask, which the caller answers.
package jsrun
