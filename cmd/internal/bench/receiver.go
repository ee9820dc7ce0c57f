package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// receive serves the receiver process: / takes deliveries, /hang takes them after ten seconds, /count tells how many
// were taken at /.
func receive() {
	var taken atomic.Int64
	server := &fasthttp.Server{
		NoDefaultServerHeader: true, NoDefaultDate: true, Concurrency: 1 << 18,
		Handler: func(c *fasthttp.RequestCtx) {
			switch string(c.Path()) {
			case "/count":
				c.SetBodyString(strconv.FormatInt(taken.Load(), 10))
			case "/hang":
				time.Sleep(10 * time.Second) //nolint:forbidigo // a slow receiver is what is asked for
			default:
				taken.Add(1)
			}
			c.SetStatusCode(http.StatusOK)
		},
	}
	if err := server.ListenAndServe(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (w *world) taken() int {
	_, body, err := fasthttp.Get(nil, w.sink+"/count")
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(string(body))
	return n
}
