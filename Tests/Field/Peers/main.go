// The client of the lab over Go's net/http: it takes the orders open, get and shutdown.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

type order struct {
	Verb, ID, URL, Method string
	Count                 int
	Settings              struct {
		Idle        float64
		Authorities string
		Connections int
		Version     int
	}
}

var lock sync.Mutex

func report(line map[string]any) {
	bytes, _ := json.Marshal(line)
	lock.Lock()
	defer lock.Unlock()
	fmt.Println(string(bytes))
}

func get(client *http.Client, id, method, url string, limit time.Duration) {
	begin := time.Now()
	line := map[string]any{"ended": id, "attempts": 1}
	end := func() {
		line["ms"] = time.Since(begin).Milliseconds()
		report(map[string]any{"finished": id})
		report(line)
	}
	defer end()
	context, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	request, err := http.NewRequestWithContext(context, method, url, nil)
	if err != nil {
		line["error"] = err.Error()
		return
	}
	response, err := client.Do(request)
	if err != nil {
		line["error"] = err.Error()
		return
	}
	defer response.Body.Close()
	count, err := io.Copy(io.Discard, response.Body)
	if err != nil {
		line["error"] = err.Error()
		return
	}
	line["status"], line["bytes"] = response.StatusCode, count
}

func main() {
	var client *http.Client
	limit := 10 * time.Second
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			panic(err)
		}
		switch o.Verb {
		case "open":
			pool := x509.NewCertPool()
			if pem, err := os.ReadFile(o.Settings.Authorities); err == nil {
				pool.AppendCertsFromPEM(pem)
			}
			transport := http.DefaultTransport.(*http.Transport).Clone()
			transport.Proxy = nil
			transport.TLSClientConfig = &tls.Config{RootCAs: pool}
			transport.MaxConnsPerHost = o.Settings.Connections
			transport.MaxIdleConnsPerHost = 16
			client = &http.Client{Transport: transport}
			limit = time.Duration(o.Settings.Idle * float64(time.Second))
		case "get":
			if o.Method == "" {
				o.Method = "GET"
			}
			for index := 0; index < o.Count; index++ {
				id := o.ID
				if o.Count > 1 {
					id = fmt.Sprintf("%s.%d", o.ID, index)
				}
				go get(client, id, o.Method, o.URL, limit)
			}
		case "shutdown":
			client.CloseIdleConnections()
			report(map[string]any{"closed": o.ID})
		}
	}
}
