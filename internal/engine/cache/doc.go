// Package cache stores what steps produced, so that a step whose inputs have not changed need not run again.
//
// A result is identified by a list of Components: each has a kind, a name for people ("input src/a.go") and a hash.
// The caller adds what it knows (command, environment, ...), Inputs adds the files. The hash over the list is the key
// of a result. Of values, only hashes are stored, and these are made with a random key of the store, so that a short
// secret cannot be guessed from the files on disk.
//
// On disk a Store is a folder:
//
//	key                       the random key of all hashes
//	STEP/                     one folder for each step, named by a hash of its identity
//	STEP/KEY/manifest.json    one cached result: components, exit code, outputs
//	STEP/KEY/stdout, stderr   what was printed
//	STEP/KEY/files/N          copies of the output files
//	STEP/.new-*               results being written
//	STEP/.restoring-*         notes of processes that are restoring outputs
//	places/DIR/STEP           an empty file: the step has results with outputs in that directory (a hash)
//	pruned                    its modification time is the last search for unused results
//
// A result is written to a temporary folder, which is then renamed: other processes see all of it or nothing. If two
// processes write the same result, one of them wins; the two results are equal. What a killed process has left, also
// in the step's directory, is removed when the step runs again.
//
// For each step, a few results are kept. Results that were not used for a month are removed, including those of steps
// that were renamed or deleted.
//
// A result holds the outputs that its step wrote in that run: a Snapshot before the step tells them from those that were
// there. Files of the step that it found and left, and files that it has removed, are noted. Where they are not as they
// were, an Obstacle says that the result cannot be reused: the step runs, and does what it would do without a cache.
//
// Output files are only accessed through an os.Root of the step's directory, so that no pattern, link or manifest can
// lead to other files. Copies are verified against their digest before they replace a file.
//
// The package knows nothing of plans, runs or definitions. All of it is safe for concurrent use, also by several
// processes.
package cache
