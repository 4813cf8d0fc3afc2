// Package attack attacks the flowrun program the way people would who have no right to
// what they get: whose values, models, definitions, packets, processes or folders are
// hostile. It holds tests only. docs/explanation/security.md says what each of them may expect.
//
// There is one file for each group of attacks, with a table of tricks and what must not
// follow from them. Each trick runs the program itself, in a [site] of its own: a home,
// a state folder and a project that nothing else touches. An attack has succeeded if its
// effect is there (a file that it creates, a uid, a secret in an answer), not if some
// message is missing.
//
// In the small size of tests each kind of attack is tried in one place, for the gate in all places and by root as well;
// in the long size the groups run in full: more rounds, more connections, all forms.
package attack
