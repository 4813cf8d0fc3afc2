// Package artifact keeps files of steps with their run: it copies them into the state folder, lists them, verifies
// them, and removes what no run has any more.
//
// In the state folder:
//
//	artifacts/AB/CD...                the contents of files, named by their SHA-256 digest, read-only
//	artifacts/.new-*                  contents being written
//	artifacts/expiring/*              the artifacts with a retention: the time is the name, the folder is the text
//	artifacts/pruned                  its modification time is the last daily search for what can be removed
//	runs/RUN/artifacts/STEP/NAME/...  one artifact: links to contents, under the names that the step gave
//	runs/RUN/artifacts/STEP/NAME.json its manifest: the files with sizes and digests
//	runs/RUN/artifacts/.new-STEP      artifacts of a step being written
//
// The store owns every content: it is a clone where the file system can share blocks, else a copy. So a step that
// changes a file later does not change the artifact. Equal contents are kept once, by hard links. The number of links
// says whether a run still has a content, so there is nothing else that could get out of step with the files.
//
// The artifacts of a step appear as a whole, when its folder is renamed. What a killed process has left is replaced
// when the step runs again, or removed after an hour.
//
// If several machines share a run, Deposit stores an artifact for the others under the digest of its manifest, and Withdraw
// makes the same folder of it there.
//
// Files are read through an os.Root of the step's directory: links are not followed out of it, and pipes, sockets and
// devices are rejected. The package knows nothing of plans and definitions. It is safe for concurrent use, also by
// several processes.
package artifact
