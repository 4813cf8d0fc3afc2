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
func (s *Store) syncLoop() {
	for moved := uint64(0); ; {
		select {
		case <-s.stop:
			return
		case <-s.wal.dirty:
		}
		select {
		case <-s.stop:
			return
		case <-time.After(syncEvery):
		}
		s.wal.sync() // wal keeps an error for the next write
		if n := s.wal.commits.Load(); n-moved >= checkpointCommits && s.moving.TryLock() {
			moved = n
			s.workers.Go(s.moveWAL)
		}
	}
}

// moveWAL moves the commits from the WAL to the main file, so that the next commit is written at
// the beginning of the WAL. It does so twice: first while others commit, then without new commits,
// or something would always be left. An error can be ignored: the next commit has it too, or
// nothing was lost.
func (s *Store) moveWAL() {
	defer s.moving.Unlock()
	const move = "PRAGMA wal_checkpoint(PASSIVE)"
	s.reads.Exec(move)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads.Exec(move)
}
