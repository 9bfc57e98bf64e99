package sandbox

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// Server is a sandbox that listens on this machine.
type Server struct {
	URL    string // such as http://127.0.0.1:41234; the base URL of the service
	server *http.Server
	done   chan error
}

// Listen serves s at an address of this machine such as 127.0.0.1:0, where 0 chooses a free
// port. Other addresses are refused: a sandbox has no TLS and its credentials are no secret.
func (s *Sandbox) Listen(address string) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for the sandbox: %w", err)
	}
	at := listener.Addr().(*net.TCPAddr)
	if !at.IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("the sandbox listens on this machine only, such as 127.0.0.1:8080, not on %q", address), listener.Close())
	}
	server := &Server{
		URL: "http://" + at.String(),
		server: &http.Server{
			Handler: s, ReadHeaderTimeout: 10 * time.Second,
			ErrorLog: log.New(io.Discard, "", 0), // connections that end early are its business
		},
		done: make(chan error, 1),
	}
	go func() { server.done <- server.server.Serve(listener) }()
	return server, nil
}

// Wait returns when the server has ended, with an error unless Close ended it.
func (s *Server) Wait() error {
	if err := <-s.done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the sandbox: %w", err)
	}
	return nil
}

// Close stops listening and ends requests in flight. The sandbox stays open.
func (s *Server) Close() error { return s.server.Close() }
