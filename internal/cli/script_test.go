package cli_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // for the sql command
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/shopspring/decimal"
	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"remit/internal/cli"
	"remit/internal/cli/exit"
	"remit/internal/clock/boot"
	"remit/internal/proof/suite"
	"remit/internal/sandbox"
	"remit/internal/transfer"
	"remit/state/postgres/pgtest"
)

func TestMain(m *testing.M) {
	testscript.Main(withServer{m}, map[string]func(){
		"remit": func() {
			ctx := exit.WithInterrupt(context.Background())
			m := machineOf(os.Getenv)
			os.Exit(cli.RunOn(ctx, m.now, m.boot, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.LookupEnv))
		},
	})
}

// withServer stops the PostgreSQL that scripts share after the tests.
type withServer struct{ *testing.M }

func (m withServer) Run() int {
	defer pgtest.CloseShared()
	if signal.Ignored(syscall.SIGHUP) {
		// Tests under nohup would start programs under nohup; what is caught is not inherited.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	return m.M.Run()
}

// TestScripts runs every promise to the user. The scripts use remit as a real process, and
// a service on loopback that they control with the service command.
func TestScripts(t *testing.T) { testscript.Run(t, scripts(t, "../../testdata/script")) }

// lawsOfMoney are the scripts of the quick set, -short: whoever breaks one pays twice, loses a payment, or
// shows another one than is sent.
var lawsOfMoney = []string{
	"apply-declared", "approval", "bound", "changed", "control-totals", "dead-ends", "doubt-age", "exit-tells-the-end", "first-use",
	"force-unlock", "forged-marks", "forged-plan", "interrupted-early", "interrupted-plan", "killed", "limits", "loop", "monthly-rent",
	"next-month", "not-made-wait", "outage", "plan-digest", "policies", "refused", "refused-doubt", "renames", "reversal",
	"same-ref-two-states", "saved-plan", "state-lost", "stopped-plan", "two-applies", "two-plans", "undeclared", "unverified", "windows",
}

// scripts are those of a directory, with the commands that all of them have.
func scripts(t *testing.T, dir string) testscript.Params {
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		t.Fatal("UPDATE_SCRIPTS has become a flag: go test ./internal/cli -run TestScripts/NAME -update, or .ci/update for all")
	}
	var files []string // all of the directory
	if testing.Short() && dir != "" {
		for _, name := range lawsOfMoney {
			files = append(files, filepath.Join(dir, name+".txtar"))
		}
		dir = ""
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	return testscript.Params{
		Dir:                 dir,
		Files:               files,
		UpdateScripts:       suite.Update(),
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", examples)
			env.Setenv("RECIPES", filepath.Join(examples, "..", "docs", "recipes"))
			env.Setenv("COMPAT", filepath.Join(examples, "..", "testdata", "compat"))
			env.Setenv("USER", "clerk")
			env.Values[serviceKey{}] = &fakeService{}
			env.Values[serverKey{}] = &database{}
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "postgres":
				return pgtest.Installed(), nil
			case "root":
				return os.Geteuid() == 0, nil
			case "strangers": // another user may come to what the scripts have, or the user is no administrator
				return os.Geteuid() != 0 || exec.Command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "ls", os.TempDir()).Run() == nil, nil
			case "mounts": // a process may have mounts of its own
				return exec.Command("unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt").Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// sql FILE STATEMENT is what someone with access to the file could do to it.
			"sql": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 2 {
					ts.Fatalf("usage: sql FILE STATEMENT")
				}
				db, err := sql.Open("sqlite3", ts.MkAbs(args[0]))
				ts.Check(err)
				_, err = db.Exec(args[1])
				ts.Check(errors.Join(err, db.Close()))
			},
			"encode": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 3 {
					ts.Fatalf("usage: encode ENCODING FROM TO")
				}
				encodings := map[string]encoding.Encoding{
					"utf-16":       unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
					"utf-16le":     unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
					"utf-16be":     unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
					"utf-8-mark":   unicode.UTF8BOM,
					"windows-1252": charmap.Windows1252,
				}
				text, err := encodings[args[0]].NewEncoder().String(ts.ReadFile(args[1]))
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(text), 0o644))
			},
			// clock TIME sets the clocks of remit and of the service, which go on from there.
			"clock": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 1 {
					ts.Fatalf("usage: clock TIME")
				}
				at, err := time.Parse(time.RFC3339, args[0])
				ts.Check(err)
				offset := time.Until(at)
				ts.Value(serviceKey{}).(*fakeService).offset.Store(int64(offset))
				ts.Setenv(clockVariable, offset.String())
			},
			"bank":   runBank,
			"fields": runFields,
			// wrong-clock OFFSET sets the clock of remit's machine alone, so far from the right time.
			"wrong-clock": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 1 {
					ts.Fatalf("usage: wrong-clock OFFSET")
				}
				_, err := time.ParseDuration(args[0])
				ts.Check(err)
				ts.Setenv(wrongVariable, args[0])
			},
			// boot NAME boots remit's machine again; "none" is a machine that does not know its boot.
			"boot": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 1 {
					ts.Fatalf("usage: boot NAME")
				}
				ts.Setenv(bootVariable, args[0])
			},
			"page":     runPage,
			"workflow": runWorkflow,
			"gitlab":   runGitLab,
			// env-from NAME sets a variable of the script to what was printed last.
			"env-from": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
			},
			"postgres": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) == 0 {
					ts.Fatalf("usage: postgres start|stop|run|sql|end …")
				}
				postgresCommand(ts, args)
			},
			"workbook": makeWorkbook,
			"demand": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) == 0 {
					ts.Fatalf("usage: demand keys|certificate|signature|signatures …")
				}
				ts.Value(serviceKey{}).(*fakeService).demand(ts, args)
			},
			"service": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) == 0 {
					ts.Fatalf("usage: service start|fault|deny|mute|undated|dated|wait|requests|count|group|debits|export|secrets …")
				}
				ts.Value(serviceKey{}).(*fakeService).command(ts, args)
			},
		},
	}
}

// makeWorkbook is the script command
//
//	workbook FROM TO
//
// that makes an .xlsx file of lines: "sheet NAME", "CELL text", "CELL = number", "CELL = number
// as FORMAT", "CELL formula EXPRESSION" (without a result), "merge A1:B2", "hide ROW", "above
// A1:B2 NUMBER as FORMAT" (a conditional format), "styles NAME" (the part of the formats has that
// name, and for "" nothing leads to it).
func makeWorkbook(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: workbook FROM TO")
	}
	file, name, styles := excelize.NewFile(), "Sheet1", "styles.xml"
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		first, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		word, value, _ := strings.Cut(rest, " ")
		var err error
		switch {
		case first == "sheet" && name == "Sheet1":
			name = rest
			err = file.SetSheetName("Sheet1", name)
		case first == "sheet":
			name = rest
			_, err = file.NewSheet(name)
		case first == "merge":
			from, to, _ := strings.Cut(rest, ":")
			err = file.MergeCell(name, from, to)
		case first == "styles":
			styles = strings.Trim(rest, `"`)
		case first == "above":
			cells, condition, _ := strings.Cut(rest, " ")
			number, format, _ := strings.Cut(condition, " as ")
			style, wrong := file.NewConditionalStyle(&excelize.Style{CustomNumFmt: &format})
			err = errors.Join(wrong, file.SetConditionalFormat(name, cells,
				[]excelize.ConditionalFormatOptions{{Type: "cell", Criteria: ">", Value: number, Format: &style}}))
		case first == "hide":
			row, wrong := strconv.Atoi(rest)
			err = errors.Join(wrong, file.SetRowVisible(name, row, false))
		case word == "formula":
			err = file.SetCellFormula(name, first, value)
		case word == "=":
			number, format, isFormatted := strings.Cut(value, " as ")
			err = file.SetCellDefault(name, first, number)
			if isFormatted {
				style, wrong := file.NewStyle(&excelize.Style{CustomNumFmt: &format})
				err = errors.Join(err, wrong, file.SetCellStyle(name, first, first, style))
			}
		case first != "":
			err = file.SetCellStr(name, first, rest)
		}
		ts.Check(err)
	}
	var whole bytes.Buffer
	ts.Check(file.Write(&whole))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), withStyles(ts, whole.Bytes(), styles), 0o600))
}

// withStyles is a workbook whose part of the formats has a name; nothing leads to it for "".
func withStyles(ts *testscript.TestScript, workbook []byte, name string) []byte {
	archive, err := zip.NewReader(bytes.NewReader(workbook), int64(len(workbook)))
	ts.Check(err)
	var whole bytes.Buffer
	w := zip.NewWriter(&whole)
	relation := regexp.MustCompile(`<Relationship [^>]*Target="(?:/xl/)?styles.xml"[^>]*>(?:</Relationship>)?`)
	for _, part := range archive.File {
		from, err := part.Open()
		ts.Check(err)
		content, err := io.ReadAll(from)
		ts.Check(err)
		partName := part.Name
		switch {
		case name != "" && partName == "xl/styles.xml":
			partName = "xl/" + name
		case name != "" && (partName == "[Content_Types].xml" || partName == "xl/_rels/workbook.xml.rels"):
			content = bytes.ReplaceAll(content, []byte("styles.xml"), []byte(name))
		case partName == "xl/_rels/workbook.xml.rels":
			content = relation.ReplaceAll(content, nil)
		}
		to, err := w.Create(partName)
		ts.Check(err)
		_, err = to.Write(content)
		ts.Check(err)
	}
	ts.Check(w.Close())
	return whole.Bytes()
}

type serviceKey struct{}

// clockVariable is how far the clocks of a script are from that of the machine, wrongVariable how
// far that of remit's own machine is from the others, and bootVariable names the boot of it.
const (
	clockVariable = "REMIT_TEST_CLOCK"
	wrongVariable = "REMIT_TEST_WRONG_CLOCK"
	bootVariable  = "REMIT_TEST_BOOT"
)

// machine is the one that a script runs remit on.
type machine struct {
	offset, wrong time.Duration // 0 where the script did not set a clock
	name          string        // of its boot
}

func machineOf(getenv func(string) string) machine {
	var m machine
	m.offset, _ = time.ParseDuration(getenv(clockVariable))
	m.wrong, _ = time.ParseDuration(getenv(wrongVariable))
	m.name = cmp.Or(getenv(bootVariable), "first")
	return m
}

func (m machine) now() time.Time { return time.Now().Add(m.offset + m.wrong) }

// boot is how long the machine is up, which a wrong clock does not change.
func (m machine) boot() boot.Reading {
	if m.name == "none" {
		return boot.Reading{}
	}
	up := time.Since(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)) + m.offset
	return boot.Reading{ID: m.name, Machine: "the machine of the script", Up: up}
}

// fakeService is the service of one script: a sandbox behind a recorder.
type fakeService struct {
	box    *sandbox.Sandbox
	secret string
	offset atomic.Int64 // of its clock

	mu      sync.Mutex
	posts   []string // "POST path body" of each request to create
	tokens  []string // every token that was handed out
	denied  bool     // tokens are refused from now on
	demands demands
	logins  int  // requests for a token
	post    bool // credentials are taken in the body alone from now on
	mute    bool // nobody who asks for a token is answered from now on

	opening  []sandbox.Balance // none: every profile has enough
	asked    int               // requests for balances
	balances http.HandlerFunc  // answers them in place of the sandbox; nil for none
	undated  bool              // no answer has a Date now
}

// command is the script command:
//
//	service start [FAULT]…   serve; sets the variables that service.hcl uses
//	service fault FAULT…     misbehave so from now on; none for no faults
//	service deny             hand out no token any more
//	service allow            hand them out again
//	service post             take credentials in the body alone from now on
//	service fund PROFILE ASSET AMOUNT
//	                         give a profile so much more; before start, so that no other has anything
//	service balances STATUS BODY
//	                         answer so who asks for balances from now on; "right" for as they are
//	service balances hang    never answer them
//	service mute             answer nobody who asks for a token any more
//	service undated          put no Date into answers any more
//	service dated            put it there again
//	service wait N           wait until N requests to create have come
//	service requests         print them
//	service count posts|transfers|logins|balances
//	service group REF_ID     print the ledger's group_id
//	service debits           print the ledger's debits per asset
//	service export           print the ledger's records, both sides, as JSON Lines
//	service secrets          print the client secret and each token
func (s *fakeService) command(ts *testscript.TestScript, args []string) {
	switch verb, rest := args[0], args[1:]; verb {
	case "start":
		s.start(ts, rest)
	case "fault":
		s.box.SetFaults(parseFaults(ts, rest))
	case "deny", "allow":
		s.mu.Lock()
		s.denied = verb == "deny"
		s.mu.Unlock()
	case "mute":
		s.mu.Lock()
		s.mute = true
		s.mu.Unlock()
	case "fund":
		s.fund(ts, rest)
	case "balances":
		s.setBalances(ts, rest)
	case "post":
		s.mu.Lock()
		s.post = true
		s.mu.Unlock()
	case "undated", "dated":
		s.mu.Lock()
		s.undated = verb == "undated"
		s.mu.Unlock()
	case "wait":
		s.wait(ts, rest[0])
	case "requests":
		s.mu.Lock()
		defer s.mu.Unlock()
		printLines(ts, s.posts)
	case "count":
		s.count(ts, rest[0])
	case "group":
		s.group(ts, rest[0])
	case "debits":
		totals, err := s.box.Debits(context.Background())
		ts.Check(err)
		var lines []string
		for total := range totals.All() {
			lines = append(lines, fmt.Sprintf("%s %s", total.Asset, total.Sum))
		}
		printLines(ts, lines)
	case "export":
		for record, err := range s.box.Ledger(context.Background()) {
			ts.Check(err)
			printLines(ts, []string{string(record.Raw)})
		}
	case "secrets":
		s.mu.Lock()
		defer s.mu.Unlock()
		printLines(ts, append([]string{s.secret}, s.tokens...))
	default:
		ts.Fatalf("unknown: service %s", verb)
	}
}

func printLines(ts *testscript.TestScript, lines []string) {
	for _, line := range lines {
		_, err := fmt.Fprintln(ts.Stdout(), line)
		ts.Check(err)
	}
}

func parseFaults(ts *testscript.TestScript, texts []string) sandbox.Faults {
	if len(texts) == 1 && texts[0] == "none" {
		return nil
	}
	faults, err := sandbox.ParseFaults(texts...)
	ts.Check(err)
	return faults
}

func (s *fakeService) start(ts *testscript.TestScript, faults []string) {
	s.secret = rand.Text()
	box, err := sandbox.Open(context.Background(), sandbox.Options{
		ClientID: "finance", ClientSecret: s.secret, Faults: parseFaults(ts, faults), Now: s.now, OpeningBalances: s.opening,
		Operator: transfer.Operator(ts.Getenv("OPERATOR")),
	})
	ts.Check(err)
	s.box = box
	server := s.listen(ts)
	ts.Defer(func() {
		server.CloseClientConnections()
		_ = box.Close() // ends requests that hang
		server.Close()
	})
	ts.Setenv("REMIT_VAR_base_url", server.URL)
	ts.Setenv("REMIT_VAR_client_secret", s.secret)
}

// fund gives a profile an amount.
func (s *fakeService) fund(ts *testscript.TestScript, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: service fund PROFILE ASSET AMOUNT")
	}
	amount, err := decimal.NewFromString(args[2])
	ts.Check(err)
	given := sandbox.Balance{ProfileID: args[0], Asset: args[1], Amount: amount}
	if s.box == nil {
		s.opening = append(s.opening, given)
		return
	}
	ts.Check(s.box.Deposit(given))
}

// setBalances has balances be answered otherwise than they are.
func (s *fakeService) setBalances(ts *testscript.TestScript, args []string) {
	var answer http.HandlerFunc
	switch {
	case len(args) == 1 && args[0] == "right":
	case len(args) == 1 && args[0] == "hang":
		answer = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	case len(args) == 2:
		status, err := strconv.Atoi(args[0])
		ts.Check(err)
		answer = func(w http.ResponseWriter, _ *http.Request) {
			if status >= 400 {
				w.Header().Set("Content-Type", "application/problem+json")
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, args[1]) // the client notices
		}
	default:
		ts.Fatalf("usage: service balances STATUS BODY|hang|right")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.balances = answer
}

func (s *fakeService) now() time.Time { return time.Now().Add(time.Duration(s.offset.Load())) }

// serve records what passes between remit and the sandbox.
func (s *fakeService) serve(w http.ResponseWriter, r *http.Request) {
	s.date(w.Header())
	if r.URL.Path == sandbox.TokenPath {
		s.serveToken(w, r)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/balances") {
		s.mu.Lock()
		s.asked++
		answer := s.balances
		s.mu.Unlock()
		if answer != nil {
			answer(w, r)
			return
		}
	}
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if err := s.verify(r, body); err != nil {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprintf(w, `{"title":"Not signed","detail":%q}`, err.Error()+" "+r.Header.Get(s.demands.header))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.mu.Lock()
		s.posts = append(s.posts, fmt.Sprintf("POST %s %s", r.URL.Path, body))
		s.mu.Unlock()
	}
	s.box.ServeHTTP(w, r)
}

// date says in an answer what time it is by the service's clock.
func (s *fakeService) date(header http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	header["Date"] = nil // or the server would put its own there
	if !s.undated {
		header.Set("Date", s.now().UTC().Format(http.TimeFormat))
	}
}

func (s *fakeService) serveToken(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.logins++
	denied, mute, post := s.denied, s.mute, s.post
	s.mu.Unlock()
	if _, _, inHeader := r.BasicAuth(); inHeader && post {
		http.Error(w, `{"error":"invalid_client"}`, http.StatusUnauthorized)
		return
	}
	if mute {
		_, _ = io.Copy(io.Discard, r.Body) // only then is it seen that the client goes away
		<-r.Context().Done()
		return
	}
	if denied {
		http.Error(w, `{"error":"invalid_client","error_description":"`+s.secret+`"}`, http.StatusUnauthorized)
		return
	}
	answer := httptest.NewRecorder()
	s.box.ServeHTTP(answer, r)
	_, rest, _ := strings.Cut(answer.Body.String(), `"access_token":"`)
	token, _, _ := strings.Cut(rest, `"`)
	s.mu.Lock()
	s.tokens = append(s.tokens, token)
	s.mu.Unlock()
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // the client notices
}

func (s *fakeService) wait(ts *testscript.TestScript, text string) {
	want, err := strconv.Atoi(text)
	ts.Check(err)
	const patience = 5 * time.Minute // longer than any machine is busy
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		have := len(s.posts)
		s.mu.Unlock()
		if have >= want {
			return
		}
	}
	ts.Fatalf("fewer than %d requests came", want)
}

func (s *fakeService) count(ts *testscript.TestScript, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch what {
	case "posts":
		printLines(ts, []string{strconv.Itoa(len(s.posts))})
	case "balances":
		printLines(ts, []string{strconv.Itoa(s.asked)})
	case "logins":
		printLines(ts, []string{strconv.Itoa(s.logins)})
	case "transfers":
		totals, err := s.box.Debits(context.Background())
		ts.Check(err)
		printLines(ts, []string{strconv.Itoa(totals.Count())})
	default:
		ts.Fatalf("unknown: service count %s", what)
	}
}

func (s *fakeService) group(ts *testscript.TestScript, refID string) {
	for record, err := range s.box.Ledger(context.Background()) {
		ts.Check(err)
		if record.RefID == refID && record.Direction == transfer.Debit {
			printLines(ts, []string{record.GroupID})
			return
		}
	}
	ts.Fatalf("the ledger has no ref_id %q", refID)
}
