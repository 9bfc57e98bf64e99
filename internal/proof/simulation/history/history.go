//go:build unix

// Package history plays seeded histories: the real planner, executor, client and SQLite
// store against a bank, a network, people and crashes that are simulated, in virtual time.
//
// Where several runners share a run, the real executor of each is played, over a model of the claims (crew.go) and one
// real journal.
//
// Its one invariant: the events of a history follow from its seed alone, one at a time; the laws
// are checked after each, on the bytes that were really written, sent and made, and not on any
// report of them.
package history

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync/atomic"
	"time"

	"remit/config"
	"remit/executor"
	"remit/internal/approval"
	"remit/internal/sandbox"
	"remit/planner"
	"remit/state"
)

const (
	stepsMax   = 40_000 // of one history: more means that something never ends
	crashesMax = 8
	sleepsMax  = 100 // of machines: a run that others take over each time never ends while they go on
	linesMax   = 20_000
)

// Client is a client to be played instead of the real one: each field may replace a part of
// it. The zero value is the real client. The oracle sees the effects below all of them.
type Client struct {
	// Run changes what the executor is given; nil for nothing.
	Run func(executor.Run, View) executor.Run
	// Controls are those that a saved plan is checked against; nil for those of now.
	Controls func(*planner.Plan) config.Controls
	// Unchecked has a saved plan be applied without a look at how its lines ended since.
	Unchecked bool
	// Declare changes what config makes of the files; nil for nothing.
	Declare func(config.Transfer) config.Transfer
	// Resolve changes what a person's word is given; nil for nothing.
	Resolve func(executor.Resolution) executor.Resolution
	// Limits changes the limits that a plan is checked against; nil for nothing.
	Limits func([]config.Limit) []config.Limit
	// Header changes what a saved plan says of itself; nil for nothing.
	Header func(planner.Header) planner.Header
	// Share changes what a runner has to do with the others of its run; nil for nothing.
	Share func(state.Share) state.Share
	// Lease is how long a runner may show no sign of life; 0 for as long as it is.
	Lease time.Duration
	// Joins has a runner take part in a run whatever its own files declare.
	Joins bool
	// Approve decides whether enough people signed a saved plan; nil for as approval does.
	Approve func(approval.Case, View) bool
	// Prints changes the command that is printed about a transfer which asks for a person; nil for nothing.
	Prints func(next string) string
	// Repair makes a state in a directory that can't be opened one that can; nil for not at all.
	Repair func(directory string) error
	// Crash damages the state in a directory as a careless store would; nil for not at all.
	Crash func(directory string) error
}

// View is what a replaced part may ask of its process.
type View interface {
	// Declared is the request that is declared now under a ref_id.
	Declared(refID string) (body []byte, ok bool)
	// Signed are the plans over which the signatures beside the saved plan of the process were made.
	Signed() [][]byte
}

// Report is how a history ended.
type Report struct {
	Seed       uint64
	Steps      int
	Runs       int
	Crashes    int
	Transfers  int
	Faults     map[string]int // how often each kind happened
	Duplicates int
	Lost       int
	Lasted     time.Duration // in virtual time
	Violation  error         // nil where every invariant held
	WrongClock string        // which command had a clock that was off, of a history with one alone; else ""
	Lines      []string      // the history, readable
}

// garbageMax is how much memory histories may leave behind before it is collected.
const garbageMax = 64 << 20

// tidy collects what histories left behind, now and then. No collection is under way after it.
func (p *Player) tidy() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(heap); p.played == 0 || heap[0].Value.Uint64() > garbageMax {
		runtime.GC()
	}
	p.played++
}

// Player plays histories, one at a time in a process: it sets GOMAXPROCS to 1 and
// stops the garbage collector while it plays, so that it can tell when everybody waits.
type Player struct {
	dir      string
	disk     Disk
	template map[string][]byte // a state that was just made
	played   int
	people   people
}

// epoch is when every history begins.
func epoch() time.Time { return time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC) }

func created(lineage string, isNew bool) state.Created {
	return state.Created{
		Lineage: lineage, Environment: "simulation", NewState: isNew,
		Service: state.Identity{BaseURL: "https://bank.example", Operator: "platform", ClientID: "client"},
		By:      state.Holder{Command: "init", User: "ada", Host: "simulation", Since: epoch(), Version: "0"},
	}
}

// NewPlayer returns a player that keeps its states on a disk, under paths in a temporary
// directory, which is in memory where there is one.
func NewPlayer(disk Disk) (*Player, error) {
	parent := "/dev/shm"
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		parent = ""
	}
	dir, err := os.MkdirTemp(parent, "remit-simulation-")
	if err != nil {
		return nil, err
	}
	checkTwoClocks()
	p := &Player{dir: dir, disk: disk, people: newPeople()}
	path := filepath.Join(dir, "template.db")
	err = disk.Create(path, created("5a1e0000-0000-4000-8000-000000000001", false), epoch)
	if err == nil {
		p.template, err = disk.Copy(path)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// begin makes the state of a history: a copy of the template, or a new one by a wrong clock.
func (p *Player) begin(w *world, path string) error {
	if once := w.traits.clocks.once; once != nil && once.command == 0 && once.off != 0 {
		w.machines.turn(w.machines.list[0], once.off)
		return p.disk.Create(path, created("5a1e0000-0000-4000-8000-000000000001", false), func() time.Time { return epoch().Add(once.off) })
	}
	return p.disk.Restore(path, p.template)
}

// Close removes the directory.
func (p *Player) Close() error { return errors.Join(p.disk.Remove(p.dir), os.RemoveAll(p.dir)) }

// Play plays the history of a seed with a client.
func (p *Player) Play(seed uint64, client Client) Report { return p.play(seed, client, nil) }

// play plays a history, with one wrong clock alone where once is not nil.
func (p *Player) play(seed uint64, client Client, once *wrongOnce) Report {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	p.tidy()
	dir := filepath.Join(p.dir, fmt.Sprint(seed))
	w := newWorld(seed, client, p.disk, dir)
	w.author.people = p.people
	w.traits = newTraits(rand.New(rand.NewPCG(seed, 0x747261697473)))
	w.traits.rules = newRuleTraits(seed, &w.traits)
	if once != nil {
		w.traits.clocks = once.clocks(w.traits.clocks)
	}
	w.traits.shares = newShareTraits(seed, &w.traits)
	if _, isFiled := p.disk.(Files); isFiled && w.traits.shares.joins == 0 { // a state in files has one runner
		w.traits.files = newFileTraits(seed, w.traits)
	}
	for _, m := range w.traits.clocks.machines {
		w.machines.list = append(w.machines.list, &m)
	}
	err := w.storage.place(func(path string) error { return p.begin(w, path) })
	if err == nil {
		w.play()
		err = errors.Join(p.disk.Remove(dir), os.RemoveAll(dir))
	}
	w.report.Steps, w.report.Runs, w.report.Transfers = w.kernel.steps, w.runs, w.bank.count
	w.report.Lasted = w.kernel.Now().Sub(epoch())
	w.report.Violation = w.oracle.violated
	if w.report.Violation == nil && err != nil {
		w.report.Violation = fmt.Errorf("play: %w", err)
	}
	w.report.Lines = w.lines
	return w.report
}

// world is one history: its parts, each of which knows it, and its events.
type world struct {
	client    Client
	kernel    *kernel
	traits    traits
	bank      *bank
	oracle    *oracle
	report    Report
	lines     []string
	healed    bool // nothing misbehaves any more
	runs      int
	processes []*process
	author    *author
	storage   *storage
	machines  *machines
	network   *network
	plans     []*savedPlan
	crew      *crew // of the latest apply; nil where it can't be shared

	plannedBy map[string]string // plan_id of each run
	// printed is at the end of the latest apply, by ref_id; nil where that carried nothing out.
	printed atomic.Pointer[map[string]advised]
	applies map[string]int // how often remit said of a ref_id that an apply goes on with it, once all was healed
}

func newWorld(seed uint64, client Client, disk Disk, dir string) *world {
	w := &world{
		client: client, kernel: newKernel(seed, epoch()), plannedBy: make(map[string]string), applies: make(map[string]int),
		report: Report{Seed: seed, Faults: make(map[string]int)},
	}
	w.storage = &storage{world: w, disk: disk, dir: dir, stores: make(map[string]Store)}
	w.author = newAuthor(w)
	w.machines, w.network = &machines{world: w}, &network{world: w, underWay: make(map[string]int)}
	w.bank = &bank{world: w, made: make(map[string][]*movement), tokens: make(map[string]time.Time)}
	w.oracle = &oracle{world: w, model: newModel(), forgotten: make(map[string]bool), misdated: make(map[string]bool), under: make(map[string]string)}
	return w
}

// storage is what the state of a history is kept in, and what people do to its files.
type storage struct {
	world    *world
	disk     Disk
	dir      string // of all states of this history
	places   int
	path     string           // of the state
	inode    int              // of its file, as the machines of the history have it
	stores   map[string]Store // that commands share, by path
	suspect  bool             // the state is to be compared with the events that must be in it
	backups  []backup
	lineages int
}

// backup is a copy of a state.
type backup struct {
	files  map[string][]byte
	model  *model
	parted bool // an older one was restored since, so it is no past of the state
}

func (w *world) log(format string, args ...any) {
	if len(w.lines) < linesMax {
		w.lines = append(w.lines, w.kernel.Now().Sub(epoch()).String()+"  "+fmt.Sprintf(format, args...))
	}
}

func (w *world) count(kind string) { w.report.Faults[kind]++ }

// faulty rolls the dice for a fault.
func (w *world) faulty(kind sandbox.FaultKind) bool {
	if w.healed || !w.kernel.chance(w.traits.rates[kind]) {
		return false
	}
	w.count(string(kind))
	return true
}

// submission is the key of a request that was written.
func (n *network) submission(p *process, m message) string { return p.id + " " + refIDOf(m.body) }

// names are all ref_ids that were ever declared, sorted.
func (a *author) names() []string { return slices.Sorted(maps.Keys(a.duties)) }

// place makes a fresh directory and fills it with a state.
func (s *storage) place(fill func(path string) error) error {
	s.places++
	dir := filepath.Join(s.dir, fmt.Sprint(s.places))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	s.path = filepath.Join(dir, "remit.db")
	return fill(s.path)
}

// files are the bytes of the state, which outlive a process.
func (s *storage) files() map[string][]byte {
	files, err := s.disk.Copy(s.path)
	if err != nil {
		panic(err) // of the simulation's own directory
	}
	return files
}

// replace puts a copy of a state in place.
func (s *storage) replace(files map[string][]byte) {
	err := s.place(func(path string) error { return s.disk.Restore(path, files) })
	if err != nil {
		panic(err) // of the simulation's own directory
	}
}

// crash kills a process without a word. Where it holds the lock, the next one finds the
// bytes that were written, and no lock, as the kernel of a real machine leaves them.
func (w *world) crash(p *process) {
	w.report.Crashes++
	w.log("%s dies", p.id)
	w.kernel.kill(p)
	p.interrupt()
	p.conns.kill()
	if p.fencedAt.IsZero() && p.path == w.storage.path && p.journal != nil && !p.hasPartners() {
		w.storage.replace(w.storage.files())
		w.storage.suspect = true
		if w.client.Crash != nil {
			if err := w.client.Crash(filepath.Dir(w.storage.path)); err != nil {
				panic(err) // of the simulation's own directory
			}
		}
	}
	for range 1000 {
		if p.isOver() {
			break
		}
		w.kernel.settle()
	}
	for range patience { // somebody computes
		if p.isOver() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if !p.isOver() {
		w.oracle.violate("I5", "%s does not end although it is dead", p.id)
		return
	}
	p.giveUp()
}

// openStore opens the state for a command. In most histories the commands share an open state,
// which is the most expensive part; in the others each opens and closes it anew.
func (s *storage) openStore(path string) (Store, error) {
	w := s.world
	if store := s.stores[path]; store != nil {
		return store, nil
	}
	store, err := s.disk.Open(path, w.actingClock)
	if err == nil && w.traits.shareStore {
		s.stores[path] = store
	}
	return store, err
}

// actingClock is the time of the acting process.
func (w *world) actingClock() time.Time {
	if p := w.kernel.acting.Load(); p != nil {
		return p.wall()
	}
	return w.kernel.Now()
}

func (s *storage) isShared(store Store) bool {
	for _, shared := range s.stores {
		if shared == store {
			return true
		}
	}
	return false
}

// patience is how many milliseconds of real time nothing happens before somebody is taken to wait for ever: who computes, or waits
// for a disk, may be slow on a busy machine.
const patience = 30_000

// drive lets things happen until all processes have ended. each is asked after every event.
func (w *world) drive(each func()) {
	w.oracle.step()
	for idle := 0; len(w.alive()) > 0 && w.oracle.violated == nil; {
		if w.kernel.step() == nil {
			// Nothing is left to happen: somebody has just ended, or still computes.
			if idle++; idle > 100 && len(w.alive()) > 0 {
				time.Sleep(time.Millisecond)
			}
			if idle > patience {
				w.oracle.violate("I5", "somebody waits for ever")
			}
			continue
		}
		idle = 0
		w.oracle.step()
		if most := w.traits.stepsMax(); w.kernel.steps > most {
			w.oracle.violate("I5", "it does not end in %d steps", most)
		}
		w.kernel.settle() // or an interrupt would race with whom the event woke
		each()
	}
	if w.oracle.violated == nil {
		w.oracle.rest()
	}
}

// alive are the processes that have not ended.
func (w *world) alive() []*process {
	w.processes = slices.DeleteFunc(w.processes, func(p *process) bool {
		if p.isOver() && p.killed.Err() == nil { // of the dead nobody hears how they ended
			w.log("%s ended: %s", p.id, p.ended)
		}
		return p.isOver()
	})
	return w.processes
}

// buryAll ends the running processes of a history that broke an invariant.
func (w *world) buryAll() {
	for _, p := range w.alive() {
		w.crash(p)
	}
	for _, store := range w.storage.stores {
		_ = store.Close() // every append was durable when it returned
	}
}

// pass lets time go by while no process runs.
func (w *world) pass(d time.Duration) {
	w.log("%v pass", d.Round(time.Second))
	e := w.kernel.after(nil, d, "~", nil)
	for w.oracle.violated == nil {
		happened := w.kernel.step()
		w.oracle.step()
		if happened == e {
			return
		}
	}
}
