package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"remit/internal/transfer"
)

// FloorHTTP sends the request of each row of a file of payouts, so many at a time, and
// keeps no record of any: an apply without remit. The requests are made
// before the first is sent, and connections are kept as remit keeps them.
func FloorHTTP(ctx context.Context, out io.Writer, url, path string, inFlight int) error {
	var bodies [][]byte
	err := readRows(path, func(r Row) error {
		request, err := r.Request()
		bodies = append(bodies, request.Body())
		return err
	})
	if err != nil {
		return err
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: inFlight, DisableCompression: true, Protocols: protocols,
	}}
	url += transfer.DefaultOperator.Path(transfer.Internal)
	errs := make([]error, inFlight)
	var next atomic.Int64
	var working sync.WaitGroup
	for worker := range inFlight {
		working.Go(func() {
			for errs[worker] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(bodies) {
					return
				}
				errs[worker] = post(ctx, client, url, bodies[i])
			}
		})
	}
	working.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, len(bodies))
	return err
}

func post(ctx context.Context, client *http.Client, url string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusCreated {
		return fmt.Errorf("the service answered %s", answer.Status)
	}
	return nil
}
