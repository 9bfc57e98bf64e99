package meter_test

import (
	"testing"

	"remit/config/meter"
)

// TestAsideTakesNothing has an evaluation aside take all steps of its own: the configuration's goes on with those that it had, and is not
// over.
func TestAsideTakesNothing(t *testing.T) {
	t.Parallel()
	m := meter.New(nil)
	if !m.Spend(meter.StepsMax-1, nil) {
		t.Fatal("a configuration may take so many steps")
	}
	m.Aside(func() {
		if m.Spend(meter.StepsMax+1, nil) || m.Over() == nil {
			t.Error("an evaluation aside takes any number of steps")
		}
	})
	if m.Over() != nil || !m.Spend(1, nil) {
		t.Error("an evaluation aside ends that of the configuration")
	}
	if m.Spend(1, nil) {
		t.Error("an evaluation aside gives the configuration steps")
	}
	var none *meter.Meter
	ran := false
	if none.Aside(func() { ran = true }); !ran {
		t.Error("without a meter nothing is evaluated aside")
	}
}
