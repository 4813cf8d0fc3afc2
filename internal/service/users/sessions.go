package users

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// Credential identifies what somebody signed in with: the SHA-256 hash of a token. The zero value is
// a sign-in link, which only the owner of the service can create.
type Credential = [sha256.Size]byte

const (
	// maxSessions is how many sessions a credential has at most; another one ends the oldest.
	maxSessions = 20
	// maxIdle and maxAge limit how long a session may be unused, and how long it lasts.
	maxIdle = 12 * time.Hour
	maxAge  = 7 * 24 * time.Hour
	// maxLinks is how many sign-in links are valid at the same time; another one replaces the oldest.
	maxLinks = 20
	// LinkAge is how long a sign-in link is valid.
	LinkAge = 5 * time.Minute
)

// Sessions are the sessions of browsers and the codes of sign-in links of one service, only as hashes.
// The links are in memory; OpenSessions keeps the sessions in a file. Safe for concurrent use.
type Sessions struct {
	mu    sync.Mutex
	open  map[Credential]*Session // by the hash of the session's secret
	links map[Credential]time.Time
	now   func() time.Time

	path    string              // of the file; "" for none
	ended   map[Credential]bool // sessions that must not come back from the file
	saved   time.Time           // when the file was last written
	failing bool                // it could not be
	report  func(error)
}

// Session is the session of one browser.
type Session struct {
	// Credential is what the person signed in with. The session is valid only as long as that is.
	Credential Credential
	// Context ends with the session.
	Context  context.Context
	end      context.CancelFunc
	started  time.Time
	used     time.Time
	requests int  // in progress
	bound    bool // it ends with its credential
}

// NewSessions returns no sessions.
func NewSessions() *Sessions {
	return &Sessions{open: map[Credential]*Session{}, links: map[Credential]time.Time{}, ended: map[Credential]bool{}, now: time.Now}
}

// Link returns the code of a new sign-in link.
func (s *Sessions) Link() (code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	if len(s.links) == maxLinks {
		delete(s.links, oldest(s.links, func(t time.Time) time.Time { return t }))
	}
	code = rand.Text()
	s.links[hash(code)] = s.now()
	return code
}

// Redeem uses up the code of a link and starts a session of the owner. It reports false if the code
// was used before, has expired or never existed.
func (s *Sessions) Redeem(code string) (secret string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	if _, ok := s.links[hash(code)]; !ok {
		return "", false
	}
	delete(s.links, hash(code))
	return s.start(Credential{}), true
}

// Start starts a session for somebody who has sent a valid token. It returns the session's secret.
func (s *Sessions) Start(c Credential) (secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	return s.start(c)
}

func (s *Sessions) start(c Credential) (secret string) {
	same := map[Credential]*Session{}
	for k, o := range s.open {
		if o.Credential == c {
			same[k] = o
		}
	}
	if len(same) == maxSessions {
		s.remove(oldest(same, func(o *Session) time.Time { return o.used }))
	}
	secret = rand.Text()
	s.open[hash(secret)] = s.session(c, s.now(), s.now())
	s.save()
	return secret
}

// Find returns the session with a secret, and notes that it is in use. It returns nil if there is
// none or it has ended.
func (s *Sessions) Find(secret string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	found := s.open[hash(secret)]
	if found != nil {
		found.used = s.now()
		if s.now().Sub(s.saved) >= saveInterval {
			s.save()
		}
	}
	return found
}

// EndWith lets a session end with the life of its credential's holder (Caller.Life), nil for one without end. Only the first
// call for a session has an effect.
func (s *Sessions) EndWith(o *Session, life context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !o.bound && life != nil {
		context.AfterFunc(life, o.end)
	}
	o.bound = true
}

// Use records a request of a session that may last: until done is called, the session is in use.
func (s *Sessions) Use(o *Session) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.requests++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		o.requests--
		o.used = s.now()
	}
}

// End ends the session with a secret.
func (s *Sessions) End(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(hash(secret))
	s.save()
}

// prune removes what has expired.
func (s *Sessions) prune() {
	now := s.now()
	for k, o := range s.open {
		if o.requests == 0 && now.Sub(o.used) >= maxIdle || now.Sub(o.started) >= maxAge || o.Context.Err() != nil {
			s.remove(k)
		}
	}
	for k, since := range s.links {
		if now.Sub(since) >= LinkAge {
			delete(s.links, k)
		}
	}
}

func (s *Sessions) remove(k Credential) {
	if o := s.open[k]; o != nil {
		o.end()
		delete(s.open, k)
		s.ended[k] = true
	}
}

func oldest[V any](list map[Credential]V, at func(V) time.Time) (key Credential) {
	first := true
	for k, v := range list {
		if first || at(v).Before(at(list[key])) {
			key, first = k, false
		}
	}
	return key
}

func hash(secret string) Credential { return sha256.Sum256([]byte(secret)) }
