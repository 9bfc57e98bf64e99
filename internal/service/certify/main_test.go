package certify_test

import (
	"testing"

	"remit/internal/proof/suite"
)

func TestMain(m *testing.M) {
	suite.InMemory()
	m.Run()
}
