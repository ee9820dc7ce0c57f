// The nethttp command is the receiver of docs/guides/start-go.md for net/http.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	deposits "partnerdeposits/sdk/go"
)

func main() {
	http.HandleFunc("POST /hooks/deposits", receive)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}

func receive(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20)) // a body that was cut does not verify
	event, err := deposits.Unwrap(body, r.Header, os.Getenv("WEBHOOK_SECRET"))
	var refused *deposits.SignatureError
	if errors.As(err, &refused) {
		http.Error(w, refused.Reason, http.StatusBadRequest)
		return
	}
	fmt.Fprintln(os.Stderr, "verified", event.Event) // record the event, then answer
	w.WriteHeader(http.StatusNoContent)
}
