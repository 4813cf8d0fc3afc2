package users

import (
	"context"
	"testing"
	"time"
)

func clocked() (*Sessions, *time.Time) {
	s, now := NewSessions(), time.Now()
	s.now = func() time.Time { return now }
	return s, &now
}

// A sign-in link can be used once, and not for long.
func TestLinks(t *testing.T) {
	s, now := clocked()
	code := s.Link()
	secret, ok := s.Redeem(code)
	if found := s.Find(secret); !ok || len(code) < 26 || found == nil || found.Credential != (Credential{}) {
		t.Errorf("%q %v %+v", code, ok, found)
	}
	if _, ok := s.Redeem(code); ok {
		t.Error("a link can be used twice")
	}
	code = s.Link()
	*now = now.Add(LinkAge)
	if _, ok := s.Redeem(code); ok {
		t.Error("an old link can be used")
	}
	if _, ok := s.Redeem(""); ok {
		t.Error("no code is a code")
	}
	first := s.Link()
	*now = now.Add(time.Second)
	for range maxLinks {
		code = s.Link()
	}
	if _, ok := s.Redeem(first); ok || len(s.links) != maxLinks {
		t.Errorf("%d links", len(s.links))
	}
	if _, ok := s.Redeem(code); !ok {
		t.Error("the newest link is not valid")
	}
}

// A session ends when it is unused for long, when it is old, when it is ended, and when there are too
// many with the same credential.
func TestSessions(t *testing.T) {
	s, now := clocked()
	one, other := Credential{1}, Credential{2}
	secret := s.Start(one)
	if s.Find(secret) == nil || s.Find("x") != nil || s.Find("") != nil {
		t.Error("the wrong sessions are found")
	}
	ended := s.Find(secret).Context
	s.End(secret)
	if s.Find(secret) != nil || ended.Err() == nil {
		t.Error("a session that was ended is valid")
	}
	secret = s.Start(one)
	*now = now.Add(maxIdle)
	if s.Find(secret) != nil {
		t.Error("an unused session is valid")
	}
	secret = s.Start(one)
	done := s.Use(s.Find(secret))
	*now = now.Add(maxIdle)
	if s.Find(secret) == nil {
		t.Error("a session ends during a request")
	}
	done()
	*now = now.Add(maxIdle / 2)
	if s.Find(secret) == nil {
		t.Error("the end of a request is not a use of the session")
	}
	life, end := context.WithCancel(t.Context())
	secret = s.Start(one)
	s.EndWith(s.Find(secret), life)
	ended = s.Find(secret).Context
	end()
	<-ended.Done()
	if s.Find(secret) != nil {
		t.Error("a session outlasts its user")
	}
	secret = s.Start(one)
	for d := time.Duration(0); d < maxAge; d += maxIdle / 2 {
		if s.Find(secret) == nil {
			t.Fatalf("a session in use ended after %v", d)
		}
		*now = now.Add(maxIdle / 2)
	}
	if s.Find(secret) != nil {
		t.Error("an old session is valid")
	}
	first, theirs := s.Start(one), s.Start(other)
	*now = now.Add(time.Second)
	for range maxSessions {
		secret = s.Start(one)
	}
	if s.Find(first) != nil || s.Find(secret) == nil || s.Find(theirs) == nil || len(s.open) != maxSessions+1 {
		t.Errorf("%d sessions", len(s.open))
	}
}
