// Command screenshots makes the pages of remit (a plan, a blocked plan, a run, a report, a reconciliation, a tree, those that ask for a passkey) in
// the sandbox, and photographs each as a whole at three widths, in light and in dark, so that somebody can look
// at them.
//
//	go run ./internal/proof/screenshots -out DIR [-only REGEXP]
//
// It needs Chromium (Debian: apt-get install chromium), and leaves the pages beside their pictures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// widths are those of a desk, a tablet and a phone, in CSS pixels.
func widths() []int { return []int{1280, 820, 390} }

// heightMax bounds a picture: a page of thousands of rows goes on as it began.
const heightMax = 6000

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := flag.String("out", "", "the directory for pages and pictures, which is made where there is none")
	only := flag.String("only", "", "photograph the pages alone whose name matches this regular expression")
	flag.Parse()
	if err := run(ctx, os.Stdout, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // this is a main
	}
}

func startBrowser(ctx context.Context, chromium string) (context.Context, func()) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.Env("TMPDIR=/tmp")) // its socket has no longer name
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	ctx, closeTab := chromedp.NewContext(ctx)
	return ctx, func() {
		closeTab()
		stop()
	}
}

// run writes pages and pictures into a directory, and to w the name of each picture.
func run(ctx context.Context, w io.Writer, dir, only string) error {
	if dir == "" {
		return errors.New("screenshots needs -out DIR")
	}
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		return errors.New("chromium is not installed here (Debian: apt-get install chromium)")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	made, err := makePages(ctx, dir)
	if err != nil {
		return err
	}
	ctx, stop := startBrowser(ctx, chromium)
	defer stop()
	for _, name := range made {
		if !wanted.MatchString(name) {
			continue
		}
		if err := photographAll(ctx, w, dir, name); err != nil {
			return fmt.Errorf("photograph the page %s: %w", name, err)
		}
	}
	return nil
}

// photographAll photographs one page in every width and in both schemes.
func photographAll(ctx context.Context, w io.Writer, dir, name string) error {
	address := (&url.URL{Scheme: "file", Path: filepath.Join(dir, name+".html")}).String()
	for _, scheme := range []string{"light", "dark"} {
		media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
		if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
			return err
		}
		for _, width := range widths() {
			picture := fmt.Sprintf("%s-%d-%s.png", name, width, scheme)
			if err := photograph(ctx, address, width, filepath.Join(dir, picture)); err != nil {
				return err
			}
			fmt.Fprintln(w, picture)
		}
	}
	return nil
}

// photograph photographs a page in a window that is as high as the page is, so that all of it is drawn.
func photograph(ctx context.Context, address string, width int, into string) error {
	height := 1000
	for range 2 {
		screen := emulation.SetDeviceMetricsOverrideParams{Width: int64(width), Height: int64(height), DeviceScaleFactor: 1, Mobile: width < 500}
		if _, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, screen); err != nil {
			return err
		}
		if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
			return err
		}
		all, err := chromedp.Run(ctx, chromedp.Evaluate[int]("document.documentElement.scrollHeight"))
		if err != nil {
			return err
		}
		height = min(all, heightMax)
	}
	shot, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	if err != nil {
		return err
	}
	return os.WriteFile(into, shot.Data, 0o600)
}
