// Makes requests by net/http, as the peer of the Swift engines: requests.go requests|stream <count> <in flight> <url>.
//
// It prints a sample like theirs: see Sources/requests/Usage.swift.
package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type sample struct {
	Rate                  float64 `json:"rate"`
	ProcessorMicroseconds float64 `json:"processorMicroseconds"`
	Peak                  float64 `json:"peak"`
	Resident              float64 `json:"resident"`
	Anonymous             float64 `json:"anonymous"`
	Failures              int64   `json:"failures"`
}

// processor returns the processor time that this process has used, in seconds.
func processor() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

// status returns a figure of /proc/self/status, in MiB.
func status(name string) float64 {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && fields[0] == name+":" {
			kilobytes, _ := strconv.ParseFloat(fields[1], 64)
			return kilobytes / 1024
		}
	}
	return 0
}

// get reads a response to its end, and returns the number of bytes.
func get(client *http.Client, url string) (int64, error) {
	response, err := client.Get(url)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	return io.Copy(io.Discard, response.Body)
}

// run makes a number of requests for 1 KiB, some of them at a time, and returns the number of those that failed.
func run(client *http.Client, url string, count, inFlight int64) int64 {
	left, failures := count, int64(0)
	var group sync.WaitGroup
	for i := int64(0); i < inFlight; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for atomic.AddInt64(&left, -1) >= 0 {
				if size, err := get(client, url); err != nil || size != 1024 {
					atomic.AddInt64(&failures, 1)
				}
			}
		}()
	}
	group.Wait()
	return failures
}

func main() {
	count, _ := strconv.ParseInt(os.Args[2], 10, 64)
	inFlight, _ := strconv.ParseInt(os.Args[3], 10, 64)
	url := os.Args[4]
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = int(inFlight)
	transport.MaxConnsPerHost = int(inFlight)
	transport.MaxIdleConns = 0
	client := &http.Client{Transport: transport}

	var failures int64
	units := float64(count)
	if os.Args[1] != "stream" {
		run(client, url, inFlight*4, inFlight)
	}
	start, used := time.Now(), processor()
	if os.Args[1] == "stream" {
		size, err := get(client, url)
		units = float64(size) / 1048576
		if err != nil || size == 0 {
			failures = 1
		}
	} else {
		failures = run(client, url, count, inFlight)
	}
	result := sample{
		Rate:                  units / time.Since(start).Seconds(),
		ProcessorMicroseconds: (processor() - used) / units * 1e6,
		Peak:                  status("VmHWM"),
		Resident:              status("VmRSS"),
		Anonymous:             status("RssAnon"),
		Failures:              failures,
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		panic(err)
	}
}
