package sqlite

import "time"

const (
	// checkpointCommits is the number of commits after which they are moved from the WAL to
	// the main file, while the runs continue. That is some MB.
	checkpointCommits = 2000

	// checkpointPages is the number of pages of 1 KiB in the WAL after which SQLite moves them
	// itself, during a commit.
	checkpointPages = 16000
)

// syncLoop syncs the WAL regularly while there is something to sync, and has it moved.
func (d *db) syncLoop() {
	for moved := uint64(0); ; {
		select {
		case <-d.stop:
			return
		case <-d.wal.dirty:
		}
		select {
		case <-d.stop:
			return
		case <-time.After(syncEvery):
		}
		d.wal.sync() // wal keeps an error for the next write
		if n := d.wal.commits.Load(); n-moved >= checkpointCommits && d.moving.TryLock() {
			moved = n
			d.workers.Go(d.moveWAL)
		}
	}
}

// moveWAL moves the commits from the WAL to the main file, so that the next commit is written at
// the beginning of the WAL. It does so twice: first while others commit, then without new commits,
// or something would always be left. An error can be ignored: the next commit has it too, or
// nothing was lost.
func (d *db) moveWAL() {
	defer d.moving.Unlock()
	const move = "PRAGMA wal_checkpoint(PASSIVE)"
	d.reads.Exec(move)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reads.Exec(move)
}
