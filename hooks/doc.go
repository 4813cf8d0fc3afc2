// Package hooks runs the JavaScript that definitions bring with them: scripts before and
// after a step, js: steps, transforms of parameters, and whole tools written as .tool.js.
//
// # The model
//
// A [Script] is checked and made ready once, by [Compile]; what is wrong with it is told
// with its place in the author's file. A [Runtime] runs scripts: each [Call] gets a fresh
// world, in which there is the language, what the call puts there, and nothing else: no
// files, no network, no process, no clock that could be set. Values go in and come out
// as JSON, so a script cannot change what belongs to its caller.
//
// Scripts run in child processes, which are this program started again ([Main]): each
// runs one call at a time, is used again for the next, and is killed when a call exceeds
// its time or memory and cannot be stopped otherwise. What a script may ask of the world
// outside goes through [Call].Ask, one question at a time and answered by the caller.
package hooks
