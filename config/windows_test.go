package config_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/config"
)

// TestATransferHasItsWindowAndThatOfItsBatch has a window for each that may say one.
func TestATransferHasItsWindowAndThatOfItsBatch(t *testing.T) {
	for name, test := range map[string]struct {
		own, batch string
		want       []string
	}{
		"neither":      {},
		"its own":      {own: "window = window.day", want: []string{"day"}},
		"the batch's":  {batch: "window = window.night", want: []string{"night"}},
		"both":         {own: "window = window.day", batch: "window = window.night", want: []string{"day", "night"}},
		"one for both": {own: "window = window.day", batch: "window = window.day", want: []string{"day"}},
	} {
		c := mustLoad(t, map[string]string{"main.hcl": fmt.Sprintf(`
window "day" {
  to = "18:00"
}
window "night" {
  from = "18:00"
}
batch "b" {
  %s
}
transfer "internal" "t" {
  %s
  batch           = batch.b
  ref_id          = "t"
  from_profile_id = "a"
  to_profile_id   = "b"
  amount          = "1.00"
  asset           = "USD"
}
`, test.batch, test.own)}, config.Options{})
		transfers, diags := all(c)
		if diags.HasErrors() || len(transfers) != 1 {
			t.Fatalf("%s: %d transfers, %v", name, len(transfers), diags)
		}
		var got []string
		for _, w := range transfers[0].Windows {
			got = append(got, w.Name)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestACutOffIsWithinItsWindow has cut-offs at the ends of a window, where they would close nothing of it.
func TestACutOffIsWithinItsWindow(t *testing.T) {
	for hours, allowed := range map[[2]string]map[string]bool{
		{"09:00", "17:00"}: {"08:59": false, "09:00": false, "09:01": true, "16:59": true, "17:00": false, "17:01": false},
		{"22:00", "04:00"}: {"21:59": false, "22:00": false, "22:01": true, "00:00": true, "03:59": true, "04:00": false, "04:01": false},
	} {
		for at, isAllowed := range allowed {
			_, diags := load(t, map[string]string{"main.hcl": fmt.Sprintf(`
window "w" {
  description = "A night is meant."
  from        = %q
  to          = %q
  cut_off {
    days = ["friday"]
    at   = %q
  }
}
`, hours[0], hours[1], at)}, config.Options{})
			if diags.HasErrors() == isAllowed || !isAllowed && diags[0].Summary != "Cut-off outside of its window" {
				t.Errorf("%s in %s: %v", at, hours, diags)
			}
		}
	}
}
