package attack

import "os"

func (s *site) chmod(path string, mode os.FileMode) {
	s.Helper()
	if err := os.Chmod(path, mode); err != nil {
		s.Fatal(err)
	}
}
