package main

import (
	"os"
	"testing"
)

func TestLicences(t *testing.T) {
	own, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	bsd := "Redistribution and use in source and binary forms, with or without\nmodification, are permitted"
	for name, test := range map[string]struct{ text, want string }{
		"remit's own":                        {string(own), "Apache-2.0"},
		"words over the ends of lines":       {"Permission is hereby granted, free\n of charge, … The above copyright notice\n\tand this permission notice", "MIT"},
		"BSD with two clauses":               {bsd, "BSD-2-Clause"},
		"BSD with three":                     {bsd + " … used to endorse or\npromote products", "BSD-3-Clause"},
		"MPL, which names the GNU licences":  {"Mozilla Public License Version 2.0 … GNU General Public License, Version 2.0", "MPL-2.0"},
		"the GNU licence":                    {"GNU GENERAL PUBLIC LICENSE\n Version 3", ""},
		"one that asks for money":            {"Business Source License 1.1 … Change License: Apache License, Version 2.0", ""},
		"one that nobody looked at":          {"Do what you like.", ""},
		"one that only sounds like another":  {"This is not the Apache License.", ""},
		"the GNU Affero licence beside MIT":  {"GNU AFFERO … Permission is hereby granted, free of charge … the above copyright notice and this permission notice", ""},
		"nothing":                            {"", ""},
		"ISC, as OpenBSD has it, on 2 lines": {"Permission to use, copy, modify, and/or\ndistribute this software for any purpose with or without fee", "ISC"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := identify(test.text); got != test.want {
				t.Errorf("identify: %q, want %q", got, test.want)
			}
		})
	}
}
