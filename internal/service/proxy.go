package service

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// EnvironmentProxy is for [Options].Proxy: the proxy that HTTPS_PROXY and NO_PROXY name.
func EnvironmentProxy(r *http.Request) (*url.URL, error) { return http.ProxyFromEnvironment(r) }

// CheckProxy says which variable of the environment does not name a proxy although it is set.
// Package http takes such a one for none, and requests would leave past the proxy. The error
// never repeats the value, which may hold a password.
func CheckProxy(getenv func(name string) string) error {
	for _, name := range []string{"https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"} {
		if text := getenv(name); text != "" && !isProxy(text) {
			return fmt.Errorf("%s is set, and is not the address of a proxy; write it like http://proxy.example.com:8080, or unset it", name)
		}
	}
	return nil
}

// isProxy reads as package http does: an address without a scheme is one of plain http.
func isProxy(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" {
		u, err = url.Parse("http://" + text)
	}
	return err == nil && u.Hostname() != "" && (u.Port() != "" || u.Host[len(u.Host)-1] != ':') &&
		slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme)
}

// proxyAnswer names the proxy where it does not let a connection through, since its status alone
// reads like one of the service.
func proxyAnswer(_ context.Context, proxy *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	return fmt.Errorf("the proxy %s refused the connection with %s", proxy.Host, statusWords(answer.StatusCode))
}
