// Package cache keeps what steps produced, so that a step whose inputs have not
// changed need not run again.
//
// What decides is a list of Components: each a kind, a name that people read
// ("input src/a.go") and a hash. The caller lists what it knows (command,
// environment, ...), Inputs adds the files. The hash over the list is the key of a
// result. Nothing but hashes of values is kept, and they are made with a random key
// of the store, so that a short secret cannot be guessed from what lies on the disk.
//
// On disk a Store is a folder:
//
//	key                       the random key of all hashes
//	STEP/                     one folder for each step, named by a hash of what it is
//	STEP/KEY/manifest.json    one kept result: components, exit code, outputs
//	STEP/KEY/stdout, stderr   what was printed
//	STEP/KEY/files/N          copies of the output files
//	STEP/.new-*               results being written
//	STEP/.restoring-*         notes of processes that are putting outputs back
//	pruned                    its time is when unused results were last looked for
//
// A result is written into a folder of its own, which is then renamed: it is there
// whole or not at all, whatever happens meanwhile. Of two writers one wins, and it
// does not matter which. What a killed process has left, also in the step's directory,
// is swept when the step runs again.
//
// Of one step a few results stay. What was not used for a month goes, whole steps that
// were renamed or deleted included.
//
// Output files are only ever touched through an os.Root of the step's directory, so
// that no pattern, link or manifest leads anywhere else. Copies are verified against
// their digest before they take a file's place.
//
// The package knows nothing of plans, runs or definitions. All of it is safe for
// concurrent use, also by several processes.
package cache
