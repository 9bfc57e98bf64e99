package postgres

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"remit/internal/files/confined"
)

// schemaMax is how many bytes PostgreSQL takes of a name; it cuts off the rest.
const schemaMax = 63

// address is where a state is: a schema of a database.
type address struct {
	pool   *pgxpool.Config // how to connect
	schema string
	hidden []string // passwords, as they were given and as they are
}

// parseAddress reads a URL. Its errors do not repeat it: a URL that can't be parsed can't be
// cleared of a password either.
func parseAddress(text, schema string) (address, error) {
	if !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://") {
		return address{}, errors.New("the url of the state does not begin with postgres:// or postgresql://")
	}
	if schema == "" || len(schema) > schemaMax || strings.ContainsRune(schema, 0) {
		return address{}, fmt.Errorf("the schema %q is not a name of 1 to %d bytes", schema, schemaMax)
	}
	if schema == "$user" {
		return address{}, fmt.Errorf("the schema %q is not a name: PostgreSQL takes it for the schema of whoever asks", schema)
	}
	if err := checkFiles(text); err != nil {
		return address{}, err
	}
	pool, err := pgxpool.ParseConfig(text)
	if err != nil {
		return address{}, unreadable(text, err)
	}
	config := pool.ConnConfig
	if value := strings.ToLower(config.RuntimeParams["synchronous_commit"]); value == "off" || value == "local" {
		return address{}, errNotDurable("the url of the state", value)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = waitConnect
	}
	config.OnNotice = keepWarning
	askInBinary(config)
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "remit"
	}
	a := address{pool: pool, schema: schema}
	if config.Password != "" {
		a.hidden = append(a.hidden, config.Password)
	}
	if raw, _ := cutPassword(text); raw != "" {
		a.hidden = append(a.hidden, raw)
	}
	return a, nil
}

// cutPassword returns the password before the host of a URL, as the URL has it, and the text behind
// it. It reads as libpq and the driver do: the first @ before any slash ends it, whatever else,
// such as a # or a ?, is in it.
func cutPassword(text string) (raw, rest string) {
	_, rest, _ = strings.Cut(text, "://")
	if i := strings.IndexAny(rest, "@/"); i >= 0 && rest[i] == '@' {
		_, raw, _ = strings.Cut(rest[:i], ":")
		rest = rest[i+1:]
	}
	return raw, rest
}

// filesMax bounds a file that a URL names, which the driver reads whole.
const filesMax = 1 << 20

// checkFiles refuses a URL that names a pipe, a device or a large file as a certificate, a key or a
// file of passwords: the driver would wait, or read without an end. One that is missing is the driver's.
func checkFiles(text string) error {
	_, rest := cutPassword(text)
	_, query, _ := strings.Cut(rest, "?")
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(strings.TrimSpace(key))
		path, errPath := url.QueryUnescape(value)
		if err != nil || errPath != nil || !slices.Contains([]string{"sslcert", "sslkey", "sslrootcert", "passfile", "servicefile"}, name) {
			continue
		}
		if _, err := confined.ReadAnywhere(path, filesMax); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("the url of the state names a file by %s, and it %w", name, err)
		}
	}
	return nil
}

// HasPassword reports whether a URL has a password.
func HasPassword(text string) bool {
	raw, rest := cutPassword(text)
	_, query, _ := strings.Cut(rest, "?")
	found := raw != ""
	for pair := range strings.SplitSeq(query, "&") {
		key, _, _ := strings.Cut(pair, "=")
		name, err := url.PathUnescape(strings.TrimSpace(key))
		found = found || err != nil || name == "password" || name == "sslpassword"
	}
	return found
}

// askInBinary leaves a URL no way of asking that is answered in text, which [columns] can't read,
// or that the driver refuses. A connection that prepares nothing by name gets that.
func askInBinary(config *pgx.ConnConfig) {
	isBinary := false
	switch config.DefaultQueryExecMode {
	case pgx.QueryExecModeCacheStatement:
		isBinary = config.StatementCacheCapacity > 0
	case pgx.QueryExecModeCacheDescribe:
		isBinary = config.DescriptionCacheCapacity > 0
	case pgx.QueryExecModeDescribeExec:
		isBinary = true
	case pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol:
	}
	if !isBinary {
		config.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	}
}

// String names the place for people, without a user or a password.
func (a address) String() string {
	config := a.pool.ConnConfig
	host := config.Host
	if !strings.HasPrefix(host, "/") { // which is a socket of this machine
		host = net.JoinHostPort(host, fmt.Sprint(config.Port))
	}
	return fmt.Sprintf("%s of the database %s on %s", a.schema, config.Database, host)
}

// hasSeveralHosts reports whether the URL leads to more than one server.
func (a address) hasSeveralHosts() bool {
	config := a.pool.ConnConfig
	return slices.ContainsFunc(config.Fallbacks, func(other *pgconn.FallbackConfig) bool {
		return other.Host != config.Host || other.Port != config.Port
	})
}

// Place names the state at a URL for people, as the errors of this package do. It returns ""
// where the URL can't be read.
func Place(url, schema string) string {
	a, err := parseAddress(url, schema)
	if err != nil {
		return ""
	}
	return a.String()
}

// Unproven says, in words that follow the name of the host, what a connection leaves open about
// the server at a URL; the host is "" where nothing is, as on this machine, or where the URL
// can't be read.
func Unproven(url, schema string) (host, what string) {
	a, err := parseAddress(url, schema)
	if err != nil {
		return "", ""
	}
	config := a.pool.ConnConfig
	ways := []*pgconn.FallbackConfig{{Host: config.Host, TLSConfig: config.TLSConfig}}
	for _, way := range append(ways, config.Fallbacks...) {
		switch {
		case isHere(way.Host):
		case way.TLSConfig == nil && config.TLSConfig == nil:
			return way.Host, "is spoken to without encryption"
		case way.TLSConfig == nil:
			return way.Host, "is spoken to without encryption where it offers none"
		case way.TLSConfig.InsecureSkipVerify && way.TLSConfig.VerifyPeerCertificate == nil:
			host, what = way.Host, "is spoken to whatever certificate it has"
		}
	}
	return host, what
}

// isHere reports whether a host, or a socket, is on this machine.
func isHere(host string) bool {
	ip := net.ParseIP(host)
	return strings.HasPrefix(host, "/") || host == "localhost" || ip != nil && ip.IsLoopback()
}

func (a address) quotedSchema() string { return pgx.Identifier{a.schema}.Sanitize() }

// lockClass is the first number of the state's advisory locks, which are those of a database.
func (a address) lockClass() int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte("remit " + a.schema)) // never fails
	return int32(h.Sum32() & 0x7fffffff)
}

// hide keeps a password out of an error that the driver or the server made, and has it on one
// line.
func (a address) hide(err error) error {
	if err == nil {
		return nil
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	for _, secret := range a.hidden {
		text = strings.ReplaceAll(text, secret, "…")
	}
	if text == err.Error() {
		return err
	}
	return retold{err, text}
}

// retold is an error in other words than its own.
type retold struct {
	error
	text string
}

func (r retold) Error() string { return r.text }

func (r retold) Unwrap() error { return r.error }
