// Package sqlite keeps the history of runs in a folder, in one SQLite file, for programs
// that embed flowrun:
//
//	store, err := sqlite.Open(ctx, dir)
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	engine := flowrun.New(flowrun.Config{Store: store, StateDir: dir})
//
// Runs survive the end of the program, and its crash: what was recorded is on disk within
// 50 ms, or immediately where the engine has to be sure. Any number of processes may open
// the same folder. If one of them is killed, another can resume its runs.
//
// The flowrun command uses the same file. With the folder of the program in
// FLOWRUN_STATE_DIR, its commands show and resume the program's runs, and flowrun history
// prune removes old ones. With flowrun.DefaultStateDir the program and the command share
// their history.
//
// SQLite is compiled in, as Go code: cgo is not needed. Only programs that import this
// package contain it.
package sqlite

import (
	"context"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// Store is a history.Store in a folder. It is safe for concurrent use.
type Store struct{ *store }

type store struct {
	history.Store
	close func() error
}

// Open opens the history in dir, or creates it there: history.db and two small files
// beside it, accessible to this user only. It updates a history that an older version has
// written. ctx limits the time to wait for another process that opens the history. Open
// fails if the file is damaged or was written by a newer version. The folder must be on a
// local disk.
func Open(ctx context.Context, dir string) (*Store, error) {
	s, err := sqlite.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &Store{&store{s, s.Close}}, nil
}

// Close writes everything to disk and closes the history. Call it after the engine has
// returned from its runs: a run that has not ended is given up, and can be resumed. Further
// calls do nothing.
func (s *Store) Close() error { return s.store.close() }
