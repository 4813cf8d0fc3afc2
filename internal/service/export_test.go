package service

// ShortFeed limits the feed to n updates.
func (s *Service) ShortFeed(n int) { s.feed.Limit(n) }
