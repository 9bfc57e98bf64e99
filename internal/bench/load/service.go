package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"remit/internal/transfer"
)

const (
	token    = "bench"
	customer = "0c3c39c7-c21c-4a6f-b5a4-29ba1b0c3e11"
	bodyMax  = 1 << 20

	// TokenPath is where a token is given.
	TokenPath = "/oauth2/token"
	// MeterPath answers a [Meter] of the requests since it was asked before.
	MeterPath = "/bench/meter"
)

// Meter is what the service saw of a client.
type Meter struct {
	Count int64         `json:"count"` // transfers
	Took  time.Duration `json:"took"`  // from the arrival of the first to the answer of the last
}

// Rate is transfers a second.
func (m Meter) Rate() float64 {
	if m.Took <= 0 {
		return 0
	}
	return float64(m.Count) / m.Took.Seconds()
}

// Service answers every transfer with a correct record after a while, and, unless it keeps
// them, forgets it. Nothing is durable: it stands for a service that has machines of its own.
type Service struct {
	latency time.Duration
	keep    bool
	now     func() time.Time
	began   time.Time

	count, first, last atomic.Int64 // nanoseconds since began
	kept               sync.Map     // record by id
}

// NewService makes a service whose answers take latency. With keep it remembers every record
// and answers GET of its path and id, for clients that read back what they made.
func NewService(latency time.Duration, keep bool, now func() time.Time) *Service {
	return &Service{latency: latency, keep: keep, now: now, began: now()}
}

// Serve listens on a free port of this machine, writes its address as the first line of out,
// and serves until ctx ends.
func (s *Service) Serve(ctx context.Context, out io.Writer) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	if _, err := fmt.Fprintf(out, "http://%s\n", listener.Addr()); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case err = <-ended:
		return err
	case <-ctx.Done():
		return server.Close()
	}
}

// Handler serves the token endpoint, the creation of internal transfers and the meter.
func (s *Service) Handler() http.Handler {
	path := transfer.DefaultOperator.Path(transfer.Internal)
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+TokenPath, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 86400})
	})
	mux.HandleFunc("POST "+path, s.create)
	mux.HandleFunc("GET "+path+"/{id}", s.read)
	mux.HandleFunc("GET "+MeterPath, func(w http.ResponseWriter, _ *http.Request) {
		count, first, last := s.count.Swap(0), s.first.Swap(0), s.last.Swap(0)
		answer(w, http.StatusOK, Meter{Count: count, Took: time.Duration(last - first)})
	})
	return mux
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client may be gone
}

// wish is what a record repeats of a request.
type wish struct {
	RefID         string            `json:"ref_id"`
	FromProfileID string            `json:"from_profile_id"`
	Amount        string            `json:"amount"`
	Asset         string            `json:"asset"`
	Metadata      map[string]string `json:"metadata"`
}

func (s *Service) create(w http.ResponseWriter, r *http.Request) {
	s.first.CompareAndSwap(0, int64(s.now().Sub(s.began)))
	if r.Header.Get("Authorization") != "Bearer "+token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMax))
	var asked wish
	if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	if err != nil || asked.RefID == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	made := asked.record(s.now())
	if s.keep {
		s.kept.Store(made.ID, made)
	}
	time.Sleep(s.latency)
	answer(w, http.StatusCreated, made)
	s.count.Add(1)
	now := int64(s.now().Sub(s.began))
	for last := s.last.Load(); now > last && !s.last.CompareAndSwap(last, now); last = s.last.Load() {
	}
}

func (s *Service) read(w http.ResponseWriter, r *http.Request) {
	made, ok := s.kept.Load(r.PathValue("id"))
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	time.Sleep(s.latency)
	answer(w, http.StatusOK, made)
}

// record is the service's record of a transfer.
type record struct {
	ID         string            `json:"id"`
	CustomerID string            `json:"customer_id"`
	ProfileID  string            `json:"profile_id"`
	Amount     string            `json:"amount"`
	Total      string            `json:"total"`
	Fee        string            `json:"fee"`
	Asset      string            `json:"asset"`
	Direction  string            `json:"direction"`
	Type       string            `json:"type"`
	Status     string            `json:"status"`
	CreatedAt  string            `json:"created_at"`
	UpdatedAt  string            `json:"updated_at"`
	RefID      string            `json:"ref_id"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	GroupID    string            `json:"group_id"`
}

func (w wish) record(at time.Time) record {
	text := at.UTC().Format(time.RFC3339Nano)
	return record{
		ID: "t-" + identifier(w.RefID), CustomerID: customer, ProfileID: w.FromProfileID,
		Amount: w.Amount, Total: w.Amount, Fee: "0", Asset: w.Asset,
		Direction: string(transfer.Debit), Type: "INTERNAL_TRANSFER_DEBIT", Status: string(transfer.Completed),
		CreatedAt: text, UpdatedAt: text, RefID: w.RefID, Metadata: w.Metadata, GroupID: "g-" + identifier(w.RefID),
	}
}

// identifier is as long and as scattered as those of a service.
func identifier(refID string) string {
	var sum uint64 = 14695981039346656037
	for _, c := range []byte(refID) {
		sum = (sum ^ uint64(c)) * 1099511628211
	}
	return strings.ToLower(strconv.FormatUint(scramble(sum), 16) + "-" + refID)
}
