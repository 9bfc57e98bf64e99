package telemetry

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	timeoutDefault = 2 * time.Second
	timeoutMax     = 10 * time.Second
)

// settings are what the environment says, in the variables of OpenTelemetry's specification.
type settings struct {
	endpoint string // "" where nothing is sent
	shown    string // the endpoint without user and password
	headers  map[string]string
	timeout  time.Duration // of one request
	resource []attributeJSON
	version  string
	ratio    float64 // of traces that are sent
}

func readSettings(getenv func(string) string, version string) (settings, error) {
	// A setting of traces goes before one of all signals.
	of := func(name string) string {
		return cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), getenv("OTEL_EXPORTER_OTLP_"+name))
	}
	s := settings{version: version, timeout: timeoutDefault, ratio: 1}
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return s, nil
	}
	endpoint := getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if endpoint == "" {
		if endpoint = getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); endpoint == "" {
			return s, nil
		}
		endpoint = strings.TrimRight(endpoint, "/") + "/v1/traces"
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return s, errors.New("OTEL_EXPORTER_OTLP_ENDPOINT is no http or https URL, such as http://127.0.0.1:4318") // it may have a password in it
	}
	if protocol := of("PROTOCOL"); protocol == "grpc" {
		return s, errors.New("OTEL_EXPORTER_OTLP_PROTOCOL is grpc; remit speaks OTLP over HTTP only, for which collectors have port 4318")
	}
	if s.headers, err = pairs(of("HEADERS")); err != nil {
		return s, errors.New("OTEL_EXPORTER_OTLP_HEADERS is no list such as name=value,name=value")
	}
	if text := of("TIMEOUT"); text != "" {
		milliseconds, err := strconv.Atoi(text)
		if err != nil || milliseconds <= 0 {
			return s, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT is %q, no number of milliseconds", text)
		}
		s.timeout = min(time.Duration(milliseconds)*time.Millisecond, timeoutMax)
	}
	if err := s.readSampler(getenv("OTEL_TRACES_SAMPLER"), getenv("OTEL_TRACES_SAMPLER_ARG")); err != nil {
		return s, err
	}
	s.endpoint, s.shown = endpoint, u.Scheme+"://"+u.Host
	return s, s.readResource(getenv)
}

func (s *settings) readSampler(name, argument string) error {
	switch strings.TrimPrefix(name, "parentbased_") {
	case "", "always_on":
	case "always_off":
		s.ratio = 0
	case "traceidratio":
		ratio, err := strconv.ParseFloat(cmp.Or(argument, "1"), 64)
		if err != nil || !(ratio >= 0 && ratio <= 1) {
			return fmt.Errorf("OTEL_TRACES_SAMPLER_ARG is %q, no number from 0 to 1", argument)
		}
		s.ratio = ratio
	default:
		return fmt.Errorf("OTEL_TRACES_SAMPLER is %q; it takes always_on, always_off or traceidratio", name)
	}
	return nil
}

// samples decides by the random part of an ID whether its trace is sent.
func (s *settings) samples(random uint64) bool {
	return s.ratio >= 1 || float64(random>>1) < s.ratio*float64(math.MaxInt64)
}

func (s *settings) readResource(getenv func(string) string) error {
	attributes, err := pairs(getenv("OTEL_RESOURCE_ATTRIBUTES"))
	if err != nil {
		return errors.New("OTEL_RESOURCE_ATTRIBUTES is no list such as name=value,name=value")
	}
	attributes["service.name"] = cmp.Or(getenv("OTEL_SERVICE_NAME"), attributes["service.name"], "remit")
	attributes["service.version"] = s.version
	for name, value := range attributes {
		s.resource = append(s.resource, Attribute{name, value}.encode())
	}
	return nil
}

// pairs reads name=value,name=value with values as in URLs.
func pairs(text string) (map[string]string, error) {
	list := make(map[string]string)
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("%q is no name=value", pair)
		}
		list[strings.TrimSpace(name)] = value
	}
	return list, nil
}
