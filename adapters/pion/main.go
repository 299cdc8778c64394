// The bandwidth estimator of pion, pkg/gcc of github.com/pion/interceptor, as a controller for Weir:
//
//	go build && weir judge external:./pion-controller
//
// pion reads the clock and works in goroutines. Both run in a bubble of testing/synctest, whose clock
// stands until every goroutine waits, and which this program moves to the times of the messages.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
)

const (
	ssrc = 1
	// The header extension of transport-wide sequence numbers.
	extension = 1
	uri       = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
	// pacing is that of pion's leaky bucket, leaky_bucket_pacer.go.
	pacing = 1.5
)

type packet struct {
	Sequence uint64   `json:"sequence"`
	Sent     float64  `json:"sent"`
	Size     int      `json:"size"`
	Arrival  *float64 `json:"arrival"`
}

// message is what Weir tells: docs/guides/judge.md.
type message struct {
	Type      string  `json:"type"`
	Now       float64 `json:"now"`
	StartRate float64 `json:"start_rate"`
	MinRate   float64 `json:"min_rate"`
	MaxRate   float64 `json:"max_rate"`

	Sent     []packet `json:"sent"`
	Feedback struct {
		Kind    string   `json:"kind"`
		Results []packet `json:"results"`
	} `json:"feedback"`
}

type answer struct {
	TargetRate float64            `json:"target_rate"`
	PacingRate float64            `json:"pacing_rate"`
	Signals    map[string]float64 `json:"signals"`
}

// estimator is pion's estimator and the stream whose packets it sees.
type estimator struct {
	*gcc.SendSideBWE
	start  time.Time
	writer interceptor.RTPWriter
}

func newEstimator(m message) (*estimator, error) {
	bwe, err := gcc.NewSendSideBWE(
		gcc.SendSideBWEInitialBitrate(int(m.StartRate)),
		gcc.SendSideBWEMinBitrate(int(m.MinRate)),
		gcc.SendSideBWEMaxBitrate(int(m.MaxRate)),
		gcc.SendSideBWEPacer(gcc.NewNoOpPacer()), // Weir has the pacer.
	)
	if err != nil {
		return nil, err
	}
	info := interceptor.StreamInfo{
		SSRC:                ssrc,
		RTPHeaderExtensions: []interceptor.RTPHeaderExtension{{ID: extension, URI: uri}},
	}
	sent := func(_ *rtp.Header, payload []byte, _ interceptor.Attributes) (int, error) {
		return len(payload), nil
	}
	writer := bwe.AddStream(&info, interceptor.RTPWriterFunc(sent))
	return &estimator{bwe, time.Now(), writer}, nil
}

// until moves the clock of the bubble.
func (e *estimator) until(seconds float64) {
	time.Sleep(e.start.Add(time.Duration(seconds * 1e9)).Sub(time.Now()))
}

func (e *estimator) send(p packet) error {
	e.until(p.Sent)
	header := &rtp.Header{Version: 2, SSRC: ssrc, SequenceNumber: uint16(p.Sequence)}
	number := []byte{byte(p.Sequence >> 8), byte(p.Sequence)}
	if err := header.SetExtension(extension, number); err != nil {
		return err
	}
	payload := make([]byte, max(p.Size-header.MarshalSize(), 0))
	_, err := e.writer.Write(header, payload, interceptor.Attributes{})
	return err
}

// feedback makes the message of transport-wide feedback that reports these packets.
func feedback(results []packet) *rtcp.TransportLayerCC {
	first := results[0].Sequence
	count := int(results[len(results)-1].Sequence-first) + 1
	symbols := make([]uint16, (count+6)/7*7)
	message := &rtcp.TransportLayerCC{
		MediaSSRC:          ssrc,
		BaseSequenceNumber: uint16(first),
		PacketStatusCount:  uint16(count),
	}
	reference := int64(-1) // µs, in steps of 250 µs
	for _, p := range results {
		if p.Arrival == nil {
			continue
		}
		at := int64(*p.Arrival*1e6) / 250 * 250
		if reference < 0 {
			reference = at / 64000 * 64000
			message.ReferenceTime = uint32(reference/64000) & 0xffffff
		}
		delta := at - reference
		reference = at
		kind := uint16(rtcp.TypeTCCPacketReceivedSmallDelta)
		if delta < 0 || delta > 63750 {
			kind = rtcp.TypeTCCPacketReceivedLargeDelta
		}
		symbols[p.Sequence-first] = kind
		message.RecvDeltas = append(message.RecvDeltas, &rtcp.RecvDelta{Type: kind, Delta: delta})
	}
	for ; len(symbols) > 0; symbols = symbols[7:] {
		chunk := &rtcp.StatusVectorChunk{SymbolSize: 1, SymbolList: symbols[:7]}
		message.PacketChunks = append(message.PacketChunks, chunk)
	}
	return message
}

func (e *estimator) handle(m message) error {
	for _, p := range m.Sent {
		if err := e.send(p); err != nil {
			return err
		}
	}
	e.until(m.Now)
	if len(m.Feedback.Results) > 0 {
		packets := []rtcp.Packet{feedback(m.Feedback.Results)}
		if err := e.WriteRTCP(packets, nil); err != nil {
			return err
		}
	}
	synctest.Wait() // until the goroutines of the estimator have nothing more to do
	return nil
}

func (e *estimator) answer() answer {
	rate := float64(e.GetTargetBitrate())
	signals := map[string]float64{}
	for name, value := range e.GetStats() {
		switch value := value.(type) {
		case int:
			signals[name] = float64(value)
		case float64:
			signals[name] = value
		}
	}
	return answer{rate, pacing * rate, signals}
}

func serve() error {
	var e *estimator
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break // the end of the run
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		if m.Type == "configure" {
			if e, err = newEstimator(m); err != nil {
				return err
			}
		}
		if err := e.handle(m); err != nil {
			return err
		}
		written, err := json.Marshal(e.answer())
		if err != nil {
			return err
		}
		fmt.Println(string(written))
	}
	if e == nil {
		return nil
	}
	return e.Close()
}

func main() {
	runtime.GOMAXPROCS(1) // the goroutines only ever wait for each other
	controller := func(t *testing.T) {
		synctest.Test(t, func(*testing.T) {
			if err := serve(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		})
	}
	all := func(string, string) (bool, error) { return true, nil }
	testing.Main(all, []testing.InternalTest{{Name: "controller", F: controller}}, nil, nil)
}
