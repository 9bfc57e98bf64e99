package approval

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"

	"remit/internal/text/confusable"
	"remit/internal/transfer"
)

// Signers are the people of an allowed_signers file, as ssh-keygen(1) describes it under
// ALLOWED SIGNERS, of an allowed_passkeys file, or of both. The zero Signers knows nobody.
type Signers struct {
	entries []entry
	people  people
}

// The names by which messages call the two kinds of files.
const (
	signersFile  = "allowed_signers"
	passkeysFile = "allowed_passkeys"
)

// entry is one line: whose key it is, and when and for what it counts.
type entry struct {
	file       string // signersFile or passkeysFile
	line       int
	principals []string
	key        Key
	namespaces string // a list of patterns; "" for all
	after      time.Time
	before     time.Time
}

// ParseSigners reads an allowed_signers file. A time without a zone is one of where, as
// ssh-keygen reads it in the machine's zone.
//
// A line that would leave open who signed is a mistake: a principal with a wildcard names no person, and
// a certificate authority vouches for people whom the file does not name. So is any other option that is
// not understood: a line is never passed over.
func ParseSigners(content []byte, where *time.Location) (*Signers, []Mistake) {
	s := &Signers{}
	var mistakes []Mistake
	if at := bytes.Index(content, []byte("PRIVATE KEY-----")); at >= 0 {
		return s, []Mistake{{1 + bytes.Count(content[:at], []byte("\n")), "it has a private key, which belongs to one person and in no file for others. Make a new pair by ssh-keygen, and write the line of its .pub file behind the name"}}
	}
	for number, line := range lines(content) {
		e, err := parseEntry(line, where)
		if err != nil {
			mistakes = append(mistakes, Mistake{number, err.Error()})
			continue
		}
		e.file, e.line = signersFile, number
		s.entries = append(s.entries, e)
	}
	if len(s.entries) == 0 && len(mistakes) == 0 {
		mistakes = append(mistakes, Mistake{0, "it names nobody, so nothing could be approved"})
	}
	s.people = newPeople(s.entries)
	return s, mistakes
}

// lines yields the lines that are neither blank nor a comment, with their numbers; and a comment that [checkLine] refuses because a reader
// could take a part of it for a line.
func lines(content []byte) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		number := 0
		for line := range bytes.Lines(content) {
			number++
			text := strings.Trim(string(line), " \t\r\n")
			if text == "" || text[0] == '#' && !hidesText(text) {
				continue
			}
			if !yield(number, text) {
				return
			}
		}
	}
}

func parseEntry(line string, where *time.Location) (entry, error) {
	var e entry
	if err := checkLine(line); err != nil {
		return e, err
	}
	names, rest, err := cutWord(line)
	if err != nil {
		return e, err
	}
	if e.principals, err = parsePrincipals(names); err != nil {
		return e, err
	}
	key, noKey := parseKey(rest)
	if noKey == nil {
		e.key = SSHKey(key)
		return e, nil
	}
	options, afterOptions, err := cutOptions(rest)
	if err != nil {
		return e, err
	}
	if key, err = parseKey(afterOptions); err != nil {
		if strings.ContainsAny(options, "=\"") || strings.EqualFold(options, "cert-authority") {
			return e, err
		}
		return e, noKey // there were no options
	}
	e.key = SSHKey(key)
	return e, e.parseOptions(options, where)
}

// checkLine refuses what a reader of the file could not see.
func checkLine(line string) error {
	if !utf8.ValidString(line) {
		return errors.New("it is not UTF-8")
	}
	for _, r := range line {
		if why := transfer.SeenOtherwise(r); r != '\t' && strings.Contains(why, "new line") {
			return fmt.Errorf("it has the character %U, %s; end the line there with a line feed, or delete the character", r, why)
		}
		if r != '\t' && (!unicode.IsPrint(r) || transfer.Hidden(r)) {
			return fmt.Errorf("it has the character %U, which does not show", r)
		}
	}
	return nil
}

// hidesText reports whether a reader may see a comment otherwise than as one: it has a hidden character that does more than to join letters.
func hidesText(comment string) bool {
	for _, r := range transfer.HiddenIn([]byte(comment)) {
		if !transfer.JoinsLetters(r) {
			return true
		}
	}
	return false
}

// cutWord cuts the first word off a line, as OpenSSH does: text in quotation marks is
// one word.
func cutWord(line string) (word, rest string, err error) {
	if strings.HasPrefix(line, `"`) {
		word, rest, ok := strings.Cut(line[1:], `"`)
		if !ok {
			return "", "", errors.New("a quotation mark is not closed")
		}
		return word, strings.TrimLeft(rest, " \t"), nil
	}
	end := strings.IndexAny(line, " \t")
	if end < 0 {
		return "", "", errors.New("it has no key: a line is PRINCIPALS [OPTIONS] KEYTYPE KEY")
	}
	return line[:end], strings.TrimLeft(line[end:], " \t"), nil
}

func parsePrincipals(text string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		switch {
		case name == "":
			return nil, errors.New("a principal is empty")
		case strings.ContainsAny(name, "*?") || strings.HasPrefix(name, "!"):
			return nil, fmt.Errorf("the principal %q is a pattern, which names no person; write the person's name", name)
		case strings.Trim(name, " \t") != name:
			return nil, fmt.Errorf("the principal %q has a space at an end, which does not show; it would be another person than one without", name)
		case isServer(name):
			return nil, fmt.Errorf("%q names a server, as the lines of a file known_hosts do, and who holds its key could approve; write the names of people and their own keys, as in: bob ssh-ed25519 AAAA…", name)
		case confusable.Mixed(name):
			return nil, fmt.Errorf("the principal %q has letters of different alphabets and could be taken for another name; write it in one", name)
		}
		names = append(names, name)
	}
	return names, nil
}

// servers are names by which known_hosts has the servers that most people know.
var servers = []string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "git.sr.ht", "ssh.dev.azure.com", "ssh.github.com", "localhost"}

// isServer reports whether a name is one of known_hosts, and of no person: an address, hashed, with a port, or well known.
func isServer(name string) bool {
	_, noAddress := netip.ParseAddr(name)
	return noAddress == nil || strings.HasPrefix(name, "|1|") || strings.HasPrefix(name, "[") || slices.Contains(servers, strings.ToLower(name))
}

// base64OfKeys begins each key in its base64: the length of the name of its type, which is below 65,536.
const base64OfKeys = "AAAA"

// parseKey reads KEYTYPE KEY, and perhaps a comment.
func parseKey(text string) (ssh.PublicKey, error) {
	fields := strings.Fields(text)
	if len(fields) > 0 && strings.HasPrefix(fields[0], base64OfKeys) {
		return nil, errors.New("it has no name before its key; write whose key it is, as in: bob ssh-ed25519 AAAA…")
	}
	if len(fields) < 2 {
		return nil, errors.New("it has no key: a line is PRINCIPALS [OPTIONS] KEYTYPE KEY")
	}
	blob, err := base64.StdEncoding.Strict().DecodeString(fields[1])
	if err != nil {
		return nil, errors.New("its key cannot be read: it is not base64; copy the one line of the .pub file anew")
	}
	key, err := ssh.ParsePublicKey(blob)
	if err != nil {
		return nil, fmt.Errorf("its key cannot be read: it is cut off, or lines were joined (%w); copy the one line of the .pub file anew", err)
	}
	if _, isCertificate := key.(*ssh.Certificate); isCertificate {
		return nil, errors.New("its key is a certificate; write the key itself")
	}
	if key.Type() != fields[0] {
		return nil, fmt.Errorf("its key is of the type %s, and it says %s", key.Type(), fields[0])
	}
	return key, nil
}

// cutOptions cuts OPTION[,OPTION]… off a text; spaces may be between quotation marks.
func cutOptions(text string) (options, rest string, err error) {
	quoted := false
	for i := range len(text) {
		switch {
		case text[i] == '"' && (i == 0 || text[i-1] != '\\'):
			quoted = !quoted
		case !quoted && (text[i] == ' ' || text[i] == '\t'):
			return text[:i], strings.TrimLeft(text[i:], " \t"), nil
		}
	}
	if quoted {
		return "", "", errors.New("a quotation mark is not closed")
	}
	return text, "", nil
}

func (e *entry) setOption(name, value string, where *time.Location) (err error) {
	isPasskey := e.key.passkey != nil
	switch {
	case name == "namespaces" && !isPasskey:
		if e.namespaces = value; value == "" {
			err = errors.New("the option namespaces is empty, which allows nothing")
		}
	case name == "valid-after":
		e.after, err = parseValidity(name, value, where)
	case name == "valid-before":
		e.before, err = parseValidity(name, value, where)
	case name == "registered" && isPasskey:
		_, err = parseValidity(name, value, where)
	case name == "backup" && isPasskey:
		if value != "yes" && value != "no" {
			err = fmt.Errorf("the option backup is %q; it is \"yes\" or \"no\"", value)
		}
	case name == "cert-authority" && !isPasskey:
		err = errors.New("the option cert-authority is not supported: it would let a certificate authority say who may approve; write each person's key")
	case isPasskey:
		err = fmt.Errorf("the option %q is not known; there are registered, backup, valid-after and valid-before", name)
	default:
		err = fmt.Errorf("the option %q is not known; there are namespaces, valid-after and valid-before", name)
	}
	return err
}

// parseOptions reads the options of a line whose key is known; their names are in letters of either case.
func (e *entry) parseOptions(text string, where *time.Location) error {
	seen := map[string]bool{}
	for text != "" {
		name, value, rest, err := cutOption(text)
		if err != nil {
			return err
		}
		text = rest
		if seen[name] {
			return fmt.Errorf("the option %s stands twice", name)
		}
		seen[name] = true
		if err := e.setOption(name, value, where); err != nil {
			return err
		}
	}
	if !e.after.IsZero() && !e.before.IsZero() && !e.before.After(e.after) {
		return errors.New("valid-before is not after valid-after")
	}
	return nil
}

// cutOption cuts NAME or NAME="VALUE" off a list.
func cutOption(text string) (name, value, rest string, err error) {
	end := strings.IndexAny(text, ",=")
	if end < 0 {
		return strings.ToLower(text), "", "", nil
	}
	name = strings.ToLower(text[:end])
	if rest = text[end+1:]; text[end] == ',' {
		return name, "", rest, checkMore(rest)
	}
	if !strings.HasPrefix(rest, `"`) {
		return "", "", "", fmt.Errorf("the value of the option %s must stand in quotation marks", name)
	}
	value, rest, ok := strings.Cut(rest[1:], `"`)
	switch {
	case !ok || strings.Contains(value, `\`):
		return "", "", "", fmt.Errorf("the value of the option %s cannot be read", name)
	case rest == "":
		return name, value, "", nil
	case rest[0] != ',':
		return "", "", "", fmt.Errorf("a comma must follow the value of the option %s", name)
	}
	return name, value, rest[1:], checkMore(rest[1:])
}

func checkMore(rest string) error {
	if rest == "" {
		return errors.New("a comma ends the options, and another one must follow it")
	}
	return nil
}

// parseValidity reads YYYYMMDD or YYYYMMDDHHMM[SS], with a Z at its end for UTC.
func parseValidity(name, text string, where *time.Location) (time.Time, error) {
	digits, isUTC := strings.CutSuffix(strings.ToUpper(text), "Z")
	if isUTC {
		where = time.UTC
	}
	layouts := map[int]string{8: "20060102", 12: "200601021504", 14: "20060102150405"}
	t, err := time.ParseInLocation(layouts[len(digits)], digits, where)
	if layouts[len(digits)] == "" || err != nil {
		return time.Time{}, fmt.Errorf("%s %q is not a time such as 20271231 or 202712312359Z", name, text)
	}
	return t, nil
}
