package service

// ShortFeed limits the feed to n updates.
func (s *Service) ShortFeed(n int) {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	s.feed.max = n
}
