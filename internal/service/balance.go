package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"remit/executor"
	"remit/internal/service/operator"
	"remit/internal/transfer"
)

// balanceAnswerMax bounds, in bytes, the answer about one profile's balances.
const balanceAnswerMax = 1 << 20

// HasBalances reports whether Balances may be called.
func (c *Client) HasBalances() bool { return c.balancePath != "" }

// Balances asks what a profile has available: GET {base_url}{balance_path}, answered with
// {"items":[{"asset":"USD","available":"12.34"}…]}. It changes nothing, so it is tried again a few times
// where the service or the network fails. An unreadable balance of one asset hurts that asset alone. It
// panics where the service says no balances.
func (c *Client) Balances(ctx context.Context, profileID string) (executor.Balances, error) {
	target, err := c.balanceTarget(profileID)
	if err != nil {
		return executor.Balances{}, err
	}
	ex, err := c.getPatiently(ctx, call{target: target, answerMax: balanceAnswerMax}, c.balanceError)
	if err != nil {
		return executor.Balances{}, err
	}
	return readBalances(ex)
}

// balanceTarget returns the address of a profile's balances. The authors of declarations choose the ID, so
// it must not lead elsewhere at the service.
func (c *Client) balanceTarget(profileID string) (*url.URL, error) {
	if profileID == "" || strings.Trim(profileID, ".") == "" {
		return nil, fmt.Errorf("the profile ID %q cannot stand in a path", profileID)
	}
	if !c.HasBalances() {
		panic("service: balances of a service that says none")
	}
	u := *c.base
	escaped := u.EscapedPath()
	u.Path = u.Path + strings.Replace(c.balancePath, operator.ProfilePart, profileID, 1)
	u.RawPath = escaped + strings.Replace(c.balancePath, operator.ProfilePart, url.PathEscape(profileID), 1)
	return &u, nil
}

// checkBalancePath returns an error if the path is none with a profile's ID in it.
func checkBalancePath(path string) error {
	if strings.Count(path, operator.ProfilePart) != 1 {
		return fmt.Errorf("path %q does not have %s once", path, operator.ProfilePart)
	}
	return checkPath(strings.Replace(path, operator.ProfilePart, "x", 1))
}

// balanceError says what an answer other than balances means, and what to look at.
func (c *Client) balanceError(ex exchange) error {
	text := answerWords(ex)
	switch ex.status {
	case http.StatusForbidden:
		text += "; check that scopes holds the one that allows to read balances" + c.lackingWords()
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		text += fmt.Sprintf("; check the profile, and balance_path, which is %q", c.balancePath)
	}
	return errors.New(text)
}

// readBalances reads an answer. Two balances of one asset say nothing of it; an item without an asset, or
// fields that it has twice, leave the whole answer unread.
func readBalances(ex exchange) (executor.Balances, error) {
	b := executor.Balances{At: dateOf(ex.header)}
	in, err := ex.object()
	if err != nil {
		return b, err
	}
	var items []json.RawMessage
	if json.Unmarshal(in["items"], &items) != nil || items == nil { // null is no list
		return b, errors.New("the answer has no list of items")
	}
	for _, item := range items {
		fields, err := transfer.ObjectFields(item)
		if err != nil {
			return b, fmt.Errorf("an item cannot be read as a balance: %w", err)
		}
		var asset, available string
		if json.Unmarshal(fields["asset"], &asset) != nil || asset == "" {
			return b, errors.New("an item has no asset that can be read")
		}
		if json.Unmarshal(fields["available"], &available) != nil {
			available = ""
		}
		amount, isNumber := transfer.ParseNumber(available)
		b.Add(asset, amount, isNumber)
	}
	return b, nil
}
