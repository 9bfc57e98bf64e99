package view

import (
	"remit/internal/service/contract"
)

type certifyRowLine struct {
	Type      string           `json:"type"` // "certify_row"
	Row       string           `json:"row"`
	Part      string           `json:"part"`
	Verdict   contract.Verdict `json:"verdict"`
	Needs     string           `json:"needs"`
	Seen      string           `json:"seen,omitempty"`
	Otherwise string           `json:"otherwise,omitempty"` // of a row that differs
}

type certifySummaryLine struct {
	Type     string   `json:"type"` // "certify_summary"
	Holds    int      `json:"holds"`
	Differs  int      `json:"differs"`
	Unknown  int      `json:"unknown"`
	Series   int      `json:"series,omitempty"`
	Requests int      `json:"requests"`
	Made     int      `json:"made"`
	InDoubt  []string `json:"in_doubt,omitempty"` // ref_ids
	Kept     int      `json:"kept"`
	Next     string   `json:"next,omitempty"`
}

// Certified writes what a trial of a service found, row by row. It returns the first error of writing.
func (j *JSON) Certified(r contract.Report, o CertifyOptions) error {
	for _, f := range r.Findings {
		line := certifyRowLine{
			Type: "certify_row", Row: f.Row.Name, Part: string(f.Row.Part), Verdict: f.Verdict, Needs: f.Row.Needs, Seen: f.Seen,
		}
		if f.Verdict == contract.Differs {
			line.Otherwise = f.Row.Otherwise
		}
		j.write(line)
	}
	j.write(certifySummaryLine{
		Type: "certify_summary", Holds: r.Count(contract.Holds), Differs: r.Count(contract.Differs), Unknown: r.Count(contract.Unknown),
		Series: r.Series, Requests: r.Requests, Made: r.Made, InDoubt: r.LeftOpen, Kept: r.Kept, Next: j.command(o.Next),
	})
	return j.end()
}
