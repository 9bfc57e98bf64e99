package cli_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"remit/internal/proof/suite"
)

// TestBooksOfExamples holds what hledger, ledger and beancount read of the books of an example
// against the totals that its run shows, to the last digit.
func TestBooksOfExamples(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	for _, name := range []string{"hledger", "ledger", "bean-check", "bean-query"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed here (Debian: apt-get install hledger ledger beancount)", name)
		}
	}
	for example, payer := range map[string]string{"payroll": "Assets:Remit:Treasury", "marketplace": "Assets:Remit:Clearing"} {
		t.Run(example, func(t *testing.T) {
			dir := t.TempDir()
			copyExample(t, filepath.Join("../../examples", example), dir)
			run(t, 0, "apply", "--sandbox", "--auto-approve", "--chdir="+dir)
			count, asset, sum := runTotals(t, run(t, 0, "show", "--run=latest", "--sandbox", "--json", "--chdir="+dir))
			for format, balances := range map[string]func(*testing.T, string) [][2]string{
				"hledger": hledgerBalances, "ledger": ledgerBalances, "beancount": beancountBalances, "csv": csvBalances, "jsonl": jsonBalances,
			} {
				t.Run(format, func(t *testing.T) {
					file := filepath.Join(dir, "books."+format)
					run(t, 0, "export", "--format="+format, "--out="+filepath.Base(file), "--sandbox", "--chdir="+dir)
					once := readFile(t, file)
					run(t, 0, "export", "--format="+format, "--out="+filepath.Base(file), "--sandbox", "--chdir="+dir)
					if readFile(t, file) != once {
						t.Error("the same state makes other bytes")
					}
					paid, got, transfers := decimal.Zero, decimal.Zero, 0
					for _, line := range balances(t, file) {
						amount, code, _ := strings.Cut(line[1], " ")
						number, err := decimal.NewFromString(amount)
						if err != nil || code != asset {
							t.Fatalf("%q is no amount of %s: %v", line[1], asset, err)
						}
						if line[0] == payer {
							paid = paid.Sub(number)
							transfers++
						} else {
							got = got.Add(number)
						}
					}
					if balance := balanceOf(t, format, file, payer); balance != "" && balance != sum.Neg().String()+" "+asset {
						t.Errorf("the balance of %s is %s; the run says %s", payer, balance, sum)
					}
					if transfers != count || !paid.Equal(sum) || !got.Equal(sum) {
						t.Errorf("%d transfers of %s, of which %s arrived; the run says %d of %s", transfers, paid, got, count, sum)
					}
				})
			}
		})
	}
}

// runTotals are the count and the sum of what a run recorded, of one asset.
func runTotals(t *testing.T, lines string) (count int, asset string, sum decimal.Decimal) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var summary struct {
			Type    string
			Results []struct {
				Result string
				Count  int
				Assets []struct{ Asset, Sum string }
			}
		}
		if err := json.Unmarshal([]byte(line), &summary); err != nil {
			t.Fatal(err)
		}
		for _, r := range summary.Results {
			if r.Result == "recorded" {
				return r.Count, r.Assets[0].Asset, decimal.RequireFromString(r.Assets[0].Sum)
			}
		}
	}
	t.Fatal("the run recorded nothing")
	return 0, "", sum
}

// program runs a program that reads books.
func program(t *testing.T, name string, args ...string) string {
	t.Helper()
	command := exec.Command(name, args...)
	command.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// balanceOf is the balance of an account as a program adds it up; "" for a format without one.
func balanceOf(t *testing.T, format, file, account string) string {
	t.Helper()
	switch format {
	case "hledger":
		return postings(t, program(t, "hledger", "-f", file, "balance", "-N", "-O", "csv", account), "account", "balance")[0][1]
	case "ledger":
		return strings.TrimSpace(program(t, "ledger", "-f", file, "balance", "--format", "%(total)", account))
	case "beancount":
		out := program(t, "bean-query", "-q", "-f", "csv", file, "select account, sum(position) as total where account = '"+account+"' group by account")
		return postings(t, out, "account", "total")[0][1]
	}
	return ""
}

// postings are the columns of an account and of an amount in rows of CSV behind a header.
func postings(t *testing.T, text string, account, amount string) [][2]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var list [][2]string
	is := func(name string) func(string) bool {
		return func(cell string) bool { return strings.TrimSpace(cell) == name }
	}
	a, n := slices.IndexFunc(rows[0], is(account)), slices.IndexFunc(rows[0], is(amount))
	for _, row := range rows[1:] {
		list = append(list, [2]string{strings.TrimSpace(row[a]), strings.TrimSpace(row[n])})
	}
	return list
}

func hledgerBalances(t *testing.T, file string) [][2]string {
	program(t, "hledger", "-f", file, "check")
	return postings(t, program(t, "hledger", "-f", file, "register", "-O", "csv"), "account", "amount")
}

func ledgerBalances(t *testing.T, file string) [][2]string {
	out := program(t, "ledger", "-f", file, "register", "--format", "%(quoted(account)),%(quoted(amount))\n")
	return postings(t, "account,amount\n"+out, "account", "amount")
}

func beancountBalances(t *testing.T, file string) [][2]string {
	if out := program(t, "bean-check", file); out != "" {
		t.Errorf("bean-check says %s", out)
	}
	out := program(t, "bean-query", "-q", "-f", "csv", file, "select account, position")
	return postings(t, out, "account", "position")
}

// csvBalances are both ends of each line, of which none has a fee.
func csvBalances(t *testing.T, file string) [][2]string {
	text := readFile(t, file)
	var list [][2]string
	totals := postings(t, text, "from_account", "total")
	amounts := postings(t, text, "to_account", "amount")
	assets := postings(t, text, "to_account", "asset")
	for i := range totals {
		list = append(list, [2]string{totals[i][0], "-" + totals[i][1] + " " + assets[i][1]}, [2]string{amounts[i][0], amounts[i][1] + " " + assets[i][1]})
	}
	return list
}

func jsonBalances(t *testing.T, file string) [][2]string {
	var list [][2]string
	for line := range strings.Lines(readFile(t, file)) {
		var booking struct {
			Postings []struct{ Account, Commodity, Amount string }
		}
		if err := json.Unmarshal([]byte(line), &booking); err != nil {
			t.Fatal(err)
		}
		for _, p := range booking.Postings {
			list = append(list, [2]string{p.Account, p.Amount + " " + p.Commodity})
		}
	}
	return list
}
