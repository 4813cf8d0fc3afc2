package service

// ShortFeed has the row of updates keep n of them at most.
func (s *Service) ShortFeed(n int) {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	s.feed.max = n
}
