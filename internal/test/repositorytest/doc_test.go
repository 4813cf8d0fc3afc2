// Package repositorytest holds the rules of the repository as a whole: which folder may import which, what the public packages
// promise, that pages and requirements name what exists, and the words they use. Its tests read the source.
package repositorytest

// top is the folder of the repository. Every test changes to it first, so that paths begin there. (In TestMain that would be
// too early: go test would not see which files a test reads, and would take its result from the cache after they change.)
const top = "../../.."
