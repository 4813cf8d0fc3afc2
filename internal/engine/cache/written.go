package cache

import (
	"context"
	"io"
	"maps"
	"os"
	"path"
	"slices"
)

// sort puts what the step has written into the outputs of its result, and what it has removed. It returns the files that
// the step left as they were.
func (w *writer) sort(items []Item, now map[string]stamp, m *Manifest) (left []Item, err error) {
	around := map[string]bool{} // folders around what the step has written
	written := make([]Item, 0, len(items))
	for i := len(items) - 1; i >= 0; i-- { // the contents of a folder come before it
		item := items[i]
		wrote := w.draft.Before.wrote(item.Path, now[item.Path])
		switch owner, bad := w.owner(item.Path, wrote); {
		case item.Type == Folder:
			if wrote = wrote && owner != OtherFile && bad == nil; !wrote && !around[item.Path] {
				continue
			}
			item.Found = !wrote
		case bad != nil:
			return nil, bad
		case !wrote:
			left = append(left, item)
			continue
		case owner == OtherFile:
			continue
		default:
			item.Doubtful = owner == DoubtfulFile
		}
		around[path.Dir(item.Path)] = true
		written = append(written, item)
	}
	slices.Reverse(written)
	m.Outputs = written
	return left, w.sortRemoved(now, m)
}

// owner says whose a file is that has changed.
func (w *writer) owner(path string, changed bool) (Owner, error) {
	if !changed || w.draft.Owner == nil {
		return OwnFile, nil
	}
	return w.draft.Owner(path)
}

func (w *writer) sortRemoved(now map[string]stamp, m *Manifest) error {
	if w.draft.Before == nil {
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(w.draft.Before.stamps)) {
		if _, there := now[path]; there {
			continue
		}
		switch owner, err := w.owner(path, true); {
		case err != nil:
			return err
		case owner == OwnFile:
			m.Removed = append(m.Removed, path)
		case owner == DoubtfulFile:
			m.Absent = append(m.Absent, path)
		}
	}
	return nil
}

// left returns the files on which the result depends of those that the step left as they were. A file that another step
// wrote is its own affair.
func (w *writer) left(ctx context.Context, root *os.Root, items []Item) ([]Item, error) {
	list := items[:0]
	for _, item := range items {
		switch by := w.draft.Writers.last(w.step, item.Path, w.store.Sum(w.draft.Dir)); by {
		case w.step.name():
			list = append(list, item)
		case "":
			list = append(list, Item{Path: item.Path})
		}
	}
	return list, each(ctx, len(list), func(i int) (err error) {
		if list[i].Type == File {
			list[i].Digest, err = w.store.digestOf(ctx, root, list[i].Path)
		}
		return err
	})
}

// digestOf returns the hash of a file's content.
func (s *Store) digestOf(ctx context.Context, root *os.Root, path string) (string, error) {
	f, err := root.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return s.digest(ctx, io.Reader(f))
}
