package view

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// JUnitStart is how a file that [JUnit] writes begins.
const JUnitStart = "<?xml "

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"` // seconds
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string     `xml:"name,attr"`
	ClassName string     `xml:"classname,attr"`
	File      string     `xml:"file,attr"`
	Line      int        `xml:"line,attr"`
	Time      string     `xml:"time,attr"`
	Failure   *junitWhy  `xml:"failure"`
	Error     *junitWhy  `xml:"error"`
	Skipped   *junitSkip `xml:"skipped"`
}

type junitWhy struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type junitSkip struct {
	Message string `xml:"message,attr"`
}

// JUnit writes runs, of which those of one file are neighbours, in the XML by which JUnit's readers
// know results: a testsuite for each file, a testcase for each run.
func JUnit(w io.Writer, runs []TestRun) error {
	var all junitSuites
	took := map[string]time.Duration{}
	for _, run := range runs {
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != Visible(run.File) {
			all.Suites = append(all.Suites, junitSuite{Name: Visible(run.File)})
		}
		suite := &all.Suites[len(all.Suites)-1]
		took[suite.Name] += run.Took
		suite.Time = seconds(took[suite.Name])
		suite.add(run)
	}
	content, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("encode results of tests: %v", err))
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, content)
	return err
}

func (s *junitSuite) add(run TestRun) {
	c := junitCase{Name: Visible(run.Name), ClassName: s.Name, File: s.Name, Line: run.Line, Time: seconds(run.Took)}
	s.Tests++
	switch run.Status {
	case TestFail:
		s.Failures++
		c.Failure = junitReason(run)
	case TestError:
		s.Errors++
		c.Error = junitReason(run)
	case TestSkip:
		s.Skipped++
		c.Skipped = &junitSkip{"an earlier apply of the file did not take place, or ended with an error"}
	case TestPass:
	}
	s.Cases = append(s.Cases, c)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// junitReason says why a run did not pass: the first of its errors in brief, and all of them.
func junitReason(run TestRun) *junitWhy {
	var text bytes.Buffer
	message := ""
	for _, d := range run.Diagnostics {
		if message == "" && d.Severity == hcl.DiagError {
			message = strings.TrimSuffix(Visible(d.Summary+": "+d.Detail), ": ")
		}
	}
	_ = Diagnostics(&text, run.Diagnostics, run.Sources, Screen{}) // a buffer takes all
	return &junitWhy{message, string(run.Status), strings.TrimSpace(text.String())}
}
