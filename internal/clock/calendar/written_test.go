package calendar_test

import (
	"fmt"
	"testing"

	"remit/internal/clock/calendar"
)

func TestWrittenDays(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-05": "[2026-11-05]", "11/05/2026": "[2026-11-05 2026-05-11]", "11/27/2026": "[2026-11-27]", "27/11/26": "[2026-11-27]",
		"05-05-2026": "[2026-05-05]", "27.11.2026": "[2026-11-27]", "27-Nov-26": "[2026-11-27]", "Nov 27, 2026": "[2026-11-27]",
		"46353": "[2026-11-27]", "46353.375": "[2026-11-27]", "20261127": "[2026-11-27]",
		"": "[]", "13/13/2026": "[]", "30/02/2026": "[]", "4120.35": "[]", "11/05/1899": "[]", "tomorrow": "[]",
	} {
		if got := fmt.Sprint(calendar.Written(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
