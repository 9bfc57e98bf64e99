package lsp

import "testing"

func TestAServiceOfAnotherProgramIsLeftAlone(t *testing.T) {
	for text, isOurs := range map[string]bool{
		"service {\n  name = \"web\"\n  port = 8080\n}\n":                                      false,
		"  service {\n  name = \"web\"\n}\n":                                                   false,
		"service {\n  name = \"web\"\n}\ntransfer \"internal\" \"rent\" {\n}\n":                true,
		"service {\n  name = \"web\"\n  token_url = \"https://x\"\n}\n":                        true,
		"service {\n  base_ulr = \"https://x\"\n}\n":                                           true,
		"service {\n  name = \"web\"\n  signing {\n  }\n}\n":                                   true,
		"job \"x\" {\n  service {\n    name = \"web\"\n  }\n}\n":                               false,
		"service {\n  name = \"a\"\n}\nservice {\n  name = \"b\"\n  base_url = \"https\"\n}\n": true,
	} {
		if got := declaresOurs("x.hcl", text); got != isOurs {
			t.Errorf("is it remit's? %v\n%s", got, text)
		}
	}
}
