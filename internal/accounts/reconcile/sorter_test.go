package reconcile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"remit/internal/proof/suite"
)

func TestEntriesComeInTheOrderOfTheirKeysHoweverLittleIsHeld(t *testing.T) {
	for _, most := range []int{1, 100, 5000, 1 << 20} {
		for count := 0; count < 200; count += suite.Dose(9, 1, 1) {
			random := rand.New(rand.NewPCG(uint64(most), uint64(count)))
			dir := t.TempDir()
			s := newSorter(dir, most)
			var want []string
			for i := range count {
				key := fmt.Sprint(random.IntN(50))
				want = append(want, fmt.Sprintf("%s\x00%04d", key, i))
				if err := s.add(key, fmt.Appendf(nil, "%04d", i)); err != nil {
					t.Fatal(err)
				}
			}
			slices.Sort(want)
			for range 2 {
				var got []string
				at, err := s.read()
				for err == nil && !at.done {
					got = append(got, string(at.key)+"\x00"+string(at.value))
					err = at.next()
				}
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("%d bytes, %d entries: error %v\n%q\nwant\n%q", most, count, err, got, want)
				}
			}
			s.close()
			if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
				t.Fatalf("left behind: %v %v", left, err)
			}
		}
	}
}

func TestAFileThatCannotBeMadeIsAnError(t *testing.T) {
	s := newSorter(filepath.Join(t.TempDir(), "none"), 1)
	defer s.close()
	err := s.add("a", nil)
	if err == nil {
		err = s.add("b", nil)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestATemporaryFileIsForItsOwnerOnly(t *testing.T) {
	s := newSorter(t.TempDir(), 1)
	defer s.close()
	for _, key := range []string{"a", "b"} {
		if err := s.add(key, nil); err != nil {
			t.Fatal(err)
		}
	}
	info, err := s.file.Stat()
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if _, err := os.Stat(s.file.Name()); err == nil {
		t.Error("it has a name while it is in use")
	}
}
