// Package resultcache reuses the results of steps. A Step is a runner around the step's own runner: it collects
// everything that the result depends on (command, environment, input files), asks internal/engine/cache for a result under
// that key, and runs the step only if there is none, storing the new result.
//
// A cache that cannot be read or written costs time but never fails the step. The package does not know loops,
// retries or the run: what it returns is a result like any other.
package resultcache
