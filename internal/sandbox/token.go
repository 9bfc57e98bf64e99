package sandbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// tokenPrefix begins every token, so that a test can search outputs for a leaked one.
const tokenPrefix = "sandbox-token-"

// tokensMax bounds the tokens that are remembered; the oldest is forgotten first.
const tokensMax = 10_000

// tokenTable knows the tokens that were handed out.
type tokenTable struct {
	clientID, clientSecret string
	lifetime               time.Duration
	now                    func() time.Time

	mu     sync.Mutex
	count  uint64
	tokens map[string]*issued
	oldest []string
}

type issued struct {
	expires time.Time
	uses    int
	revoked bool
}

func newTokenTable(o Options) *tokenTable {
	return &tokenTable{
		clientID: o.ClientID, clientSecret: o.ClientSecret, lifetime: o.TokenLifetime, now: o.Now,
		tokens: make(map[string]*issued),
	}
}

// issue makes a token that nobody without the secret can guess.
func (t *tokenTable) issue() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	mac := hmac.New(sha256.New, []byte(t.clientSecret))
	mac.Write(binary.BigEndian.AppendUint64(nil, t.count))
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(t.now().UnixNano())))
	token := tokenPrefix + hex.EncodeToString(mac.Sum(nil))
	t.tokens[token] = &issued{expires: t.now().Add(t.lifetime)}
	t.oldest = append(t.oldest, token)
	if len(t.oldest) > tokensMax {
		delete(t.tokens, t.oldest[0])
		t.oldest = t.oldest[1:]
	}
	return token
}

// use counts a use of a token and reports whether it is good. With a TokenExpired it may be
// worth nothing from now on.
func (t *tokenTable) use(token string, e effects) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.tokens[token]
	if known == nil || known.revoked || !t.now().Before(known.expires) {
		return false
	}
	known.uses++
	if e.has(TokenExpired) && known.uses > e[TokenExpired].Number {
		known.revoked = true
	}
	return !known.revoked
}

// serveToken answers the client credentials grant (RFC 6749, section 4.4) with the
// credentials in a header or in the body.
func (s *Sandbox) serveToken(w http.ResponseWriter, r *http.Request) {
	e := s.effects(Request{Method: r.Method, Path: r.URL.Path, Header: r.Header}, nil)
	if e.has(TokenError) {
		w.WriteHeader(e.status(TokenError))
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, bodyMax)
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "application/x-www-form-urlencoded" || r.ParseForm() != nil {
		tokenFailure(w, http.StatusBadRequest, "invalid_request")
		return
	}
	if r.PostForm.Get("grant_type") != "client_credentials" {
		tokenFailure(w, http.StatusBadRequest, "unsupported_grant_type")
		return
	}
	id, secret := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	if headerID, headerSecret, ok := r.BasicAuth(); ok {
		if secret != "" {
			tokenFailure(w, http.StatusBadRequest, "invalid_request")
			return
		}
		id, secret = unescape(headerID), unescape(headerSecret)
	}
	if !equal(id, s.tokens.clientID) || !equal(secret, s.tokens.clientSecret) {
		w.Header().Set("WWW-Authenticate", "Basic")
		tokenFailure(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	answer := map[string]any{
		"access_token": s.tokens.issue(), "token_type": "Bearer", "expires_in": int(s.tokens.lifetime.Seconds()),
	}
	if scope := r.PostForm.Get("scope"); scope != "" {
		answer["scope"] = scope
	}
	writeToken(w, http.StatusOK, answer)
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// unescape undoes the form encoding that RFC 6749, section 2.3.1, puts below basic auth.
func unescape(text string) string {
	plain, err := url.QueryUnescape(text)
	if err != nil {
		return text
	}
	return plain
}

func tokenFailure(w http.ResponseWriter, status int, code string) {
	writeToken(w, status, map[string]any{"error": code})
}

func writeToken(w http.ResponseWriter, status int, answer map[string]any) {
	body, err := json.Marshal(answer)
	if err != nil {
		panic(err) // strings and numbers always have a JSON form
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// authorize checks the token of a request; nil means that it is good.
func (s *Sandbox) authorize(w http.ResponseWriter, r *http.Request, e effects) *problem {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if ok && s.tokens.use(token, e) {
		return nil
	}
	w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
	return &problem{Type: problemBase + "unauthorized", Title: "The access token is missing, unknown or expired", Status: http.StatusUnauthorized}
}
