package suite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// portMin and portMax bound the ports that are handed out: below those that systems give to
// programs that ask for any, which may be taken again while a server is stopped. They are in blocks
// of portsEach, of which each belongs to the program that listens at its first port: tests of other
// packages, which run at the same time, take no port of it.
const portMin, portMax, portsEach = 20000, 32000, 40

var ports struct {
	sync.Mutex
	blocks []net.Listener // at the first port of each block of this program; they stay open
	next   int            // the next port of the newest
}

// Port is FreePort for a test.
func Port(tb testing.TB) int {
	tb.Helper()
	port, err := FreePort()
	if err != nil {
		tb.Fatal(err)
	}
	return port
}

// FreePort is a port of loopback at which nobody listens, and which no test was given before.
func FreePort() (int, error) {
	ports.Lock()
	defer ports.Unlock()
	for range 1000 {
		if ports.next%portsEach == 0 { // there is no block yet, or it is used up
			first := portMin + rand.IntN((portMax-portMin)/portsEach)*portsEach
			block, err := Listen(first)
			if err != nil {
				continue // another program has it
			}
			ports.blocks, ports.next = append(ports.blocks, block), first+1
		}
		port := ports.next
		ports.next++
		if free, err := Listen(port); err == nil { // else somebody has it who knows of no blocks
			return port, free.Close()
		}
	}
	return 0, errors.New("no port is free")
}

// Listen listens at a port of loopback.
func Listen(port int) (net.Listener, error) {
	return net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
}
