package service_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/internal/service"
)

// byToken answers 401 unless the token is one that good accepts.
func byToken(good func(token string) bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !good(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")) {
			always(401, "", `{"title":"Token expired"}`)(w, r)
			return
		}
		always(200, "", answer)(w, r)
	}
}

func TestReadyTellsTheTimeOfTheService(t *testing.T) {
	w := &world{api: always(200, "", answer)}
	w.in(t, func(t *testing.T, c *service.Client) {
		for want := 1; want <= 2; want++ {
			time.Sleep(1500 * time.Millisecond)
			got, err := c.Ready(t.Context())
			if err != nil || !got.Equal(time.Now().Truncate(time.Second)) {
				t.Errorf("Date is %s at %s: %v", got, time.Now(), err)
			}
			if w.tokens != want {
				t.Errorf("%d tokens, want %d", w.tokens, want)
			}
		}
	})
	w = &world{token: http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header()["Date"] = nil
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, `{"access_token":"token-number-1"}`)
	})}
	w.in(t, func(t *testing.T, c *service.Client) {
		if got, err := c.Ready(t.Context()); err != nil || !got.IsZero() {
			t.Errorf("without a Date: %s, %v", got, err)
		}
	})
}

func TestCredentialsAreSentInOneOfTheTwoPlaces(t *testing.T) {
	for _, place := range []string{"header", "body"} {
		t.Run(place, func(t *testing.T) {
			var form url.Values
			w := &world{api: always(200, "", answer)}
			w.token = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				_ = r.ParseForm()
				id, password, inHeader := r.BasicAuth()
				if !inHeader {
					id, password = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
				}
				if inHeader != (place == "header") || id != "finance" || password != secret {
					rw.WriteHeader(http.StatusUnauthorized)
					return
				}
				form = r.PostForm
				w.issue(rw, r)
			})
			w.in(t, func(t *testing.T, c *service.Client) {
				if _, err := c.Ready(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
			if diff := cmp.Diff([]string{"client_credentials", "a b"}, []string{form.Get("grant_type"), form.Get("scope")}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTokenFailuresAreToldWithoutSecrets(t *testing.T) {
	tests := map[string]struct {
		status       int
		header, body string
		reason       string
		stop         bool // a request later on stops the run
	}{
		"refused with the secret repeated":  {401, "Content-Type: application/json", `{"error":"invalid_client","error_description":"` + secret + ` is wrong"}`, `"invalid_client", "[removed] is wrong"`, true},
		"refused with the header repeated":  {400, "", "Basic ZmluYW5jZTpzZWNyZXQtb2YtdGhlLWNsaWVudA==", "answered 400 Bad Request", true},
		"a redirect":                        {302, "Location: http://127.0.0.1:2/elsewhere", "", "a redirect is never followed", false},
		"a redirect that keeps the method":  {307, "Location: http://127.0.0.1:2/elsewhere", "", "a redirect is never followed", false},
		"unavailable":                       {503, "", "", "answered 503 Service Unavailable", false},
		"too many requests":                 {429, "", "", "answered 429 Too Many Requests", false},
		"an answer that is no JSON":         {200, "", "token-number-0", "no token that can be read", false},
		"an answer without a token":         {200, "Content-Type: application/json", `{"token":"token-number-0"}`, "no token that can be read", false},
		"a token of another type":           {200, "Content-Type: application/json", `{"access_token":"token-number-0","token_type":"mac"}`, "not a bearer token", false},
		"a token that is no header":         {200, "Content-Type: application/json", `{"access_token":"token-number-0\r\nX: y"}`, "cannot stand in a header", false},
		"an endless token":                  {200, "Content-Type: application/json", `{"access_token":"` + strings.Repeat("token-number-0", 2000) + `"}`, "more than 16384 bytes", false},
		"an answer of more than a mebibyte": {200, "Content-Type: application/json", `{"access_token":"token-number-0","x":"` + strings.Repeat("x", 1<<20) + `"}`, "no token that can be read", false},
		"refused with the header escaped":   {400, "Content-Type: application/json", `{"title":"No","detail":"got Basic ZmluYW5jZTpzZWNyZXQtb2YtdGhlLWNsaWVudA\\u003d\\u003d"}`, "No: got Basic [removed]", true},
		"refused with the body repeated":    {400, "", "client_id=finance&client_secret=secret%2Dof%2Dthe%2Dclient", "client_secret=[removed]", true},
		"an error with a token":             {400, "Content-Type: application/json", `{"access_token":"token-number-0","detail":"no"}`, "answered 400 Bad Request", true},
		"a success that is an error":        {200, "Content-Type: application/json", `{"error":"invalid_scope"}`, `"invalid_scope"`, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{token: always(tt.status, tt.header, tt.body), api: always(200, "", answer)}
			w.in(t, func(t *testing.T, c *service.Client) {
				_, err := c.Ready(t.Context())
				if err == nil || !strings.Contains(err.Error(), tt.reason) || !strings.HasPrefix(err.Error(), "token request to 127.0.0.1:1: ") {
					t.Errorf("Ready: %v, want it to say %q", err, tt.reason)
				}
				got := c.Submit(t.Context(), path, []byte(request))
				if got.Kind != executor.Unwritten || got.Stop != tt.stop || !strings.Contains(got.Reason, tt.reason) {
					t.Errorf("Submit: %+v", got)
				}
				for _, text := range []string{fmt.Sprint(err), got.Reason, string(got.Problem)} {
					if strings.Contains(text, secret) || strings.Contains(text, "token-number") || strings.Contains(text, "ZmluYW5jZTpz") {
						t.Errorf("tells a secret: %s", text)
					}
				}
			})
			if w.dials != 0 {
				t.Error("something was sent to the service")
			}
		})
	}
}

// TestTheFirstErrorOfAClientIsTold asks endpoints that answer one thing to credentials in the header
// and another to those in the body.
func TestTheFirstErrorOfAClientIsTold(t *testing.T) {
	oauth := func(code string) string { return `{"error":"` + code + `"}` }
	tests := map[string]struct {
		header, body string // the answer, 400; "" for a token
		style        service.AuthStyle
		reason       string // "" where a token comes
		remembered   service.AuthStyle
		first, again int // requests for two tokens
	}{
		"the header is taken":                   {"", oauth("x"), "", "", service.AuthBasic, 1, 1},
		"the body alone is taken":               {oauth("invalid_client"), "", "", "", service.AuthPost, 2, 1},
		"a misspelt scope":                      {oauth("invalid_scope"), oauth("invalid_client"), "", `"invalid_scope"`, "", 1, 1},
		"a misspelt scope, body alone":          {oauth("invalid_client"), oauth("invalid_scope"), "", `"invalid_scope"`, service.AuthPost, 2, 1},
		"a wrong secret":                        {oauth("invalid_client"), oauth("invalid_request"), "", `"invalid_client"`, "", 2, 2},
		"the header is written, the body taken": {oauth("invalid_client"), "", service.AuthBasic, `"invalid_client"`, service.AuthBasic, 1, 1},
		"the body is written, the header taken": {"", oauth("invalid_client"), service.AuthPost, `"invalid_client"`, service.AuthPost, 1, 1},
		"a problem":                             {`{"title":"Client locked","detail":"ask us"}`, `{"title":"No credentials"}`, "", "Client locked: ask us", "", 2, 2},
		"a text":                                {"who are you?", "nobody", "", "who are you?", "", 2, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			asked := 0
			w := &world{api: always(200, "", answer)}
			w.token = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				asked++
				text := tt.body
				if _, _, inHeader := r.BasicAuth(); inHeader {
					text = tt.header
				}
				if text == "" {
					w.issue(rw, r)
					return
				}
				always(400, "Content-Type: application/json", text)(rw, r)
			})
			w.in(t, func(t *testing.T, c *service.Client) {
				for i, want := range []int{tt.first, tt.again} {
					asked = 0
					_, err := c.Ready(t.Context())
					if (err == nil) != (tt.reason == "") || err != nil && !strings.Contains(err.Error(), tt.reason) {
						t.Errorf("token %d: %v", i+1, err)
					}
					if asked != want {
						t.Errorf("token %d took %d requests, want %d", i+1, asked, want)
					}
				}
				if got := c.AuthStyle(); got != tt.remembered {
					t.Errorf("remembers %q, want %q", got, tt.remembered)
				}
			}, func(o *service.Options) { o.AuthStyle = tt.style })
		})
	}
}

// TestAScopeThatWasNotGrantedIsNamed where the service then refuses.
func TestAScopeThatWasNotGrantedIsNamed(t *testing.T) {
	tests := map[string]struct {
		granted string
		says    bool
	}{
		"all":                {`"b a"`, false},
		"one of two":         {`"a"`, true},
		"it does not say":    {`null`, false},
		"it has another way": {`["a"]`, false},
	}
	answers := map[string]executor.AnswerKind{`{"title":"No"}`: executor.Rejected, "<html>Blocked</html>": executor.Unclear}
	for name, tt := range tests {
		for body, kind := range answers {
			t.Run(name+", "+body, func(t *testing.T) {
				w := &world{api: always(403, "", body)}
				w.token = always(200, "Content-Type: application/json", `{"access_token":"token-number-1","scope":`+tt.granted+`}`)
				w.in(t, func(t *testing.T, c *service.Client) {
					got := c.Submit(t.Context(), path, []byte(request))
					_, err := c.Find(t.Context(), []string{"a"})
					if got.Kind != kind || got.Stop != tt.says {
						t.Errorf("%+v", got)
					}
					for _, text := range []string{got.Reason, fmt.Sprint(err)} {
						if strings.Contains(text, `did not grant the scope "b"`) != tt.says {
							t.Error(text)
						}
					}
				})
			})
		}
	}
}

// TestAScopeThatStandsForOthersIsNotLacking has an endpoint that names other scopes, which it granted, in the place of those that were asked for.
func TestAScopeThatStandsForOthersIsNotLacking(t *testing.T) {
	w := &world{api: always(403, "", `{"title":"No"}`)}
	w.token = always(200, "Content-Type: application/json", `{"access_token":"token-number-1","scope":"transfer.write"}`)
	w.in(t, func(t *testing.T, c *service.Client) {
		if got := c.Submit(t.Context(), path, []byte(request)); got.Stop || strings.Contains(got.Reason, "did not grant") {
			t.Errorf("%+v", got)
		}
		if lacks := c.ScopesLacking(); len(lacks) > 0 {
			t.Errorf("it lacks %q", lacks)
		}
	}, func(o *service.Options) { o.Scopes = []string{"https://bank.example/.default"} })
}

// TestATokenIsUsedWhateverItsLifeIs has lives that nobody can read, or that are longer than any run.
func TestATokenIsUsedWhateverItsLifeIs(t *testing.T) {
	for _, text := range []string{`"PT1H"`, `"never"`, `""`, "null", "true", "[3600]", `{"s":1}`, "-1", "0", "99999999999999999999", "1e999", `"1e999"`, `"NaN"`} {
		t.Run(text, func(t *testing.T) {
			w := &world{api: always(200, "", answer)}
			w.token = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				w.tokens++
				always(200, "Content-Type: application/json", `{"access_token":"token-number-1","expires_in":`+text+`}`)(rw, r)
			})
			w.in(t, func(t *testing.T, c *service.Client) {
				for range 2 {
					if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered || w.tokens != 1 {
						t.Errorf("%d tokens, %+v", w.tokens, got)
					}
					time.Sleep(24 * time.Hour)
				}
			})
		})
	}
}

func TestLifetimesAreNumbers(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90": 90, "1.5e2": 150, "90.9": 90, `"90"`: 90, "3.6e1": 36, `"90.0"`: 90, `" 90"`: 90,
	} {
		t.Run(text, func(t *testing.T) {
			w := &world{api: always(200, "", answer)}
			w.token = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				w.tokens++
				always(200, "Content-Type: application/json", fmt.Sprintf(`{"access_token":"token-number-%d","expires_in":%s}`, w.tokens, text))(rw, r)
			})
			w.in(t, func(t *testing.T, c *service.Client) {
				if _, err := c.Ready(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, tokens := range []int{1, 2} {
					_ = c.Submit(t.Context(), path, []byte(request))
					if w.tokens != tokens {
						t.Errorf("%d tokens, want %d", w.tokens, tokens)
					}
					time.Sleep(want*time.Second + time.Second)
				}
			})
		})
	}
}

func TestTokenIsRenewedAheadOfItsExpiry(t *testing.T) {
	var expiry sync.Map // by token
	w := &world{lifetime: 10 * time.Minute}
	w.token = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		expiry.Store(fmt.Sprint("token-number-", w.tokens+1), time.Now().Add(w.lifetime))
		w.issue(rw, r)
	})
	w.api = byToken(func(token string) bool {
		expires, ok := expiry.Load(token)
		return ok && time.Now().Before(expires.(time.Time))
	})
	w.in(t, func(t *testing.T, c *service.Client) {
		if _, err := c.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 60 { // an hour of a request a minute
			time.Sleep(time.Minute)
			if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered {
				t.Fatalf("%+v", got)
			}
			synctest.Wait()
		}
	})
	if w.requests != 60 {
		t.Errorf("%d requests for 60 transfers: some were refused first", w.requests)
	}
	if w.tokens < 6 || w.tokens > 8 {
		t.Errorf("%d tokens of ten minutes in an hour", w.tokens)
	}
}

// The life of a token may begin when it was asked for: its endpoint answers late.
func TestTheLifeOfATokenBeginsWithTheQuestion(t *testing.T) {
	const life = time.Minute
	late := 20 * time.Second
	w := &world{lifetime: life}
	w.token = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		time.Sleep(late)
		w.issue(rw, r)
	})
	w.in(t, func(t *testing.T, c *service.Client) {
		began := time.Now()
		w.api = byToken(func(token string) bool { return token != "token-number-1" || time.Since(began) < life })
		if _, err := c.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		late = 0
		time.Sleep(life - time.Since(began) + time.Second)
		if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered {
			t.Errorf("%+v", got)
		}
	})
}

func TestTokenEndpointDownBeforeExpiryHurtsNobody(t *testing.T) {
	down := false
	asked := 0
	w := &world{lifetime: 10 * time.Minute, api: always(200, "", answer)}
	w.token = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked++
		if down {
			rw.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.issue(rw, r)
	})
	w.in(t, func(t *testing.T, c *service.Client) {
		if _, err := c.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		down = true
		time.Sleep(9*time.Minute + 30*time.Second)
		asked = 0
		for range 20 {
			if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered {
				t.Fatalf("the old token is good still: %+v", got)
			}
			synctest.Wait()
			time.Sleep(100 * time.Millisecond)
		}
		if asked > 2 { // a renewal tries both places of the credentials
			t.Errorf("the token endpoint was asked %d times within two seconds", asked)
		}
		time.Sleep(time.Minute)
		if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Unwritten || got.Stop || !strings.Contains(got.Reason, "503") {
			t.Errorf("the old token has expired: %+v", got)
		}
		down = false
		if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered {
			t.Errorf("the endpoint is back: %+v", got)
		}
	})
}

// A refused token is renewed at once, but nothing is sent again: the caller counts the requests and
// holds the lock.
func TestRefusedTokenIsRenewed(t *testing.T) {
	t.Run("for the next request", func(t *testing.T) {
		w := &world{api: byToken(func(token string) bool { return token == "token-number-2" })}
		w.in(t, func(t *testing.T, c *service.Client) {
			got := c.Submit(t.Context(), path, []byte(request))
			if got.Kind != executor.TokenRefused || got.Stop || got.HTTPStatus != 401 || !strings.Contains(got.Reason, "Token expired") {
				t.Errorf("%+v", got)
			}
			if w.requests != 1 || w.tokens != 2 {
				t.Errorf("%d requests and %d tokens, want 1 and 2", w.requests, w.tokens)
			}
			if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered || w.tokens != 2 {
				t.Errorf("the next request, with token %d: %+v", w.tokens, got)
			}
		})
	})
	t.Run("and it is told what else had it", func(t *testing.T) {
		uses := make(map[string]int)
		w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
			byToken(func(token string) bool { uses[token]++; return uses[token] == 1 })(rw, r)
		}}
		w.in(t, func(t *testing.T, c *service.Client) {
			kinds := []executor.AnswerKind{executor.Answered, executor.TokenRefused, executor.Answered, executor.TokenRefused}
			for _, want := range kinds {
				got := c.Submit(t.Context(), path, []byte(request))
				if got.Kind != want || want == executor.TokenRefused && got.TokenUse != executor.TokenUsed {
					t.Errorf("want kind %d: %+v", want, got)
				}
			}
			if got := c.Submit(t.Context(), "/v2/other", []byte(request)); got.Kind != executor.Answered {
				t.Errorf("%+v", got)
			}
			if got := c.Submit(t.Context(), path, []byte(request)); got.TokenUse != executor.TokenPerhapsUsed {
				t.Errorf("after a request of another path: %+v", got)
			}
		})
		w = &world{api: byToken(func(string) bool { return false })}
		w.in(t, func(t *testing.T, c *service.Client) {
			if got := c.Submit(t.Context(), path, []byte(request)); got.TokenUse != executor.TokenUnused {
				t.Errorf("no token is taken: %+v", got)
			}
		})
	})
	t.Run("once for all that are in flight together", func(t *testing.T) {
		w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second) // so that all were refused with one token
			byToken(func(token string) bool { return token == "token-number-2" })(rw, r)
		}}
		w.in(t, func(t *testing.T, c *service.Client) {
			for _, want := range []executor.AnswerKind{executor.TokenRefused, executor.Answered} {
				done := make(chan executor.Answer)
				for range 50 {
					go func() { done <- c.Submit(t.Context(), path, []byte(request)) }()
				}
				for range 50 {
					if got := <-done; got.Kind != want {
						t.Errorf("want kind %d: %+v", want, got)
					}
				}
			}
		})
		if w.requests != 100 || w.tokens != 2 {
			t.Errorf("%d requests and %d tokens, want 100 and 2", w.requests, w.tokens)
		}
	})
	t.Run("once for one that is refused after the others", func(t *testing.T) {
		w := &world{}
		w.api = func(rw http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.Header.Get("Authorization"), "token-number-1") {
				w.mu.Lock()
				n := w.requests
				w.mu.Unlock()
				time.Sleep(time.Duration(n) * time.Second)
			}
			byToken(func(token string) bool { return token == "token-number-2" })(rw, r)
		}
		w.in(t, func(t *testing.T, c *service.Client) {
			done := make(chan executor.Answer)
			for range 5 {
				go func() { done <- c.Submit(t.Context(), path, []byte(request)) }()
				synctest.Wait()
			}
			for range 5 {
				if got := <-done; got.Kind != executor.TokenRefused {
					t.Errorf("%+v", got)
				}
			}
			if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered || w.tokens != 2 {
				t.Errorf("%d tokens, want 2: %+v", w.tokens, got)
			}
		})
	})
	t.Run("unless there is no other one", func(t *testing.T) {
		w := &world{api: byToken(func(string) bool { return false })}
		w.token = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if w.tokens > 0 {
				always(400, "Content-Type: application/json", `{"error":"invalid_client"}`)(rw, r)
				return
			}
			w.issue(rw, r)
		})
		w.in(t, func(t *testing.T, c *service.Client) {
			got := c.Submit(t.Context(), path, []byte(request))
			if got.Kind != executor.NotProcessed || !got.Stop || got.HTTPStatus != 401 || !strings.Contains(got.Reason, "invalid_client") {
				t.Errorf("%+v", got)
			}
		})
		if w.requests != 1 {
			t.Errorf("sent %d times", w.requests)
		}
	})
}

func TestSlowTokenEndpoint(t *testing.T) {
	w := &world{api: always(200, "", answer)}
	w.token = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		time.Sleep(8 * time.Second)
		w.issue(rw, r)
	})
	w.in(t, func(t *testing.T, c *service.Client) {
		if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Unwritten || got.Stop || w.dials != 0 {
			t.Errorf("later than StartMax after the call: %+v", got)
		}
		time.Sleep(4 * time.Second)
		if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered || w.tokens != 1 {
			t.Errorf("when the token is there, of %d: %+v", w.tokens, got)
		}
	})
	w = &world{token: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})}
	w.in(t, func(t *testing.T, c *service.Client) {
		began := time.Now()
		if _, err := c.Ready(t.Context()); err == nil || time.Since(began) != 30*time.Second {
			t.Errorf("no token after %s: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Ready(ctx); err == nil || time.Since(began) != 31*time.Second {
			t.Errorf("an interrupt is heard after %s: %v", time.Since(began), err)
		}
	})
}

// A service that repeats what it was sent tells it to nobody through us.
func TestSecretsThatTheServiceRepeats(t *testing.T) {
	repeat := func(status int, format string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			always(status, "", fmt.Sprintf(format, r.Header.Get("Authorization")+" "+secret))(w, r)
		}
	}
	for name, api := range map[string]http.HandlerFunc{
		"in a text":    repeat(400, "headers: %s"),
		"in a problem": repeat(422, `{"title":"No","detail":"%s"}`),
		"in a record":  repeat(200, strings.Replace(answer, `"t1"`, `"%s"`, 1)),
		"in no record": repeat(200, `{"headers":"%s"}`),
		"in a lookup":  repeat(400, `{"title":"%s"}`),
		"in a list":    repeat(200, `{"items":[{"ref_id":"a","id":"%s"}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{api: api}
			w.in(t, func(t *testing.T, c *service.Client) {
				text := fmt.Sprintf("%+v", c.Submit(t.Context(), path, []byte(request)))
				found, err := c.Find(t.Context(), []string{"a"})
				text += fmt.Sprint(found, err)
				if strings.Contains(text, secret) || strings.Contains(text, "token-number") {
					t.Errorf("tells a secret: %s", text)
				}
			})
		})
	}
	t.Run("in a broken header", func(t *testing.T) {
		w := &world{}
		w.serve = func(conn net.Conn) {
			defer conn.Close()
			var buffer [4096]byte
			n, _ := conn.Read(buffer[:])
			_, rest, _ := strings.Cut(string(buffer[:n]), "Bearer ")
			token, _, _ := strings.Cut(rest, "\r\n")
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nbroken "+token+"\r\n\r\n")
		}
		w.in(t, func(t *testing.T, c *service.Client) {
			if got := c.Submit(t.Context(), path, []byte(request)); strings.Contains(got.Reason, "token-number") {
				t.Errorf("tells a secret: %+v", got)
			}
		})
	})
}

func TestSecretsThatTheServiceRepeatsInAnotherForm(t *testing.T) {
	each := func(text, format string) string {
		var out strings.Builder
		for _, c := range []byte(text) {
			fmt.Fprintf(&out, format, c)
		}
		return out.String()
	}
	forms := map[string]func(string) string{
		"in escapes of JSON":      func(text string) string { return each(text, `\u%04x`) },
		"in JSON in JSON":         func(text string) string { return each(text, `\\u%04x`) },
		"percent-encoded":         func(text string) string { return each(text, "%%%02X") },
		"percent-encoded twice":   func(text string) string { return each(text, "%%25%02x") },
		"in entities":             func(text string) string { return each(text, "&#%d;") },
		"in base64":               func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) },
		"in base64url, one later": func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte("x" + text)) },
		"in base64, two later":    func(text string) string { return base64.StdEncoding.EncodeToString([]byte("xy" + text)) },
		"in hexadecimal digits":   func(text string) string { return hex.EncodeToString([]byte(text)) },
	}
	for place, format := range map[string]string{
		"text": "400 headers: %s", "problem": `422 {"title":"No","detail":"%s"}`, "record": "200 " + strings.Replace(answer, `"t1"`, `"%s"`, 1),
		"existing record": `409 {"type":"already-exists","meta":{"existing":` + strings.Replace(answer, `"t1"`, `"%s"`, 1) + `}}`,
		"list":            `200 {"items":[{"ref_id":"a","id":"%s"}]}`,
	} {
		for form, write := range forms {
			t.Run(place+" "+form, func(t *testing.T) {
				status, _ := strconv.Atoi(format[:3])
				var written []string
				w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
					written = []string{write(r.Header.Get("Authorization")), write(secret)}
					always(status, "", fmt.Sprintf(format[4:], strings.Join(written, " ")))(rw, r)
				}}
				w.in(t, func(t *testing.T, c *service.Client) {
					got := c.Submit(t.Context(), path, []byte(request))
					text := fmt.Sprintf("%+v %s %+v", got, got.Problem, got.Record)
					found, err := c.Find(t.Context(), []string{"a"})
					text += fmt.Sprint(found, err)
					for _, part := range append(written, secret, "token-number", each(secret, `\u%04x`)) {
						if strings.Contains(text, part) {
							t.Errorf("tells %q: %s", part, text)
						}
					}
					if place == "record" && (got.Kind != executor.Answered || got.Record == nil) {
						t.Errorf("the record is lost: %+v", got)
					}
				})
			})
		}
	}
}

func TestAnAnswerThatWasCutEndsBeforeItsLastWord(t *testing.T) {
	w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Length", "1000")
		rw.WriteHeader(500)
		sent := r.Header.Get("Authorization")
		_, _ = io.WriteString(rw, "it sent "+sent[:len(sent)-1])
	}}
	w.in(t, func(t *testing.T, c *service.Client) {
		got := c.Submit(t.Context(), path, []byte(request))
		if text := fmt.Sprintf("%+v %s", got, got.Problem); strings.Contains(text, "token-num") || !strings.Contains(text, "it sent Bearer") {
			t.Errorf("it keeps %s", text)
		}
	})
}

func TestNoWayToPrintShowsTheSecret(t *testing.T) {
	o := service.Options{
		BaseURL: "https://api.example.com", TokenURL: "https://oauth.example.com/token",
		ClientID: "finance", ClientSecret: secret, Now: time.Now,
	}
	c, err := service.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		for _, value := range []any{o, &o, c, *c, []any{o, c}} {
			text := fmt.Sprintf(verb, value)
			if strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%x", secret)) {
				t.Errorf("%s of %T shows the secret: %s", verb, value, text)
			}
		}
	}
}
