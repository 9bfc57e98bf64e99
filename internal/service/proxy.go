package service

import (
	"net/http"
	"net/url"
)

// EnvironmentProxy is for [Options].Proxy: the proxy that HTTPS_PROXY and NO_PROXY name.
func EnvironmentProxy(r *http.Request) (*url.URL, error) { return http.ProxyFromEnvironment(r) }
