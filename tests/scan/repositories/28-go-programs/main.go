package main

import (
	"flag"
	"os"

	"example.org/serve/config"
)

// flag.String("commented", "", "is no option")
const text = `flag.String("quoted", "", "is no option either")`

var port = flag.Int("port", 8080, "port to listen on")

func main() {
	host := ""
	flag.StringVar(&host, "host", "localhost", "address to listen on")
	flag.Parse()
	_ = os.Getenv("SERVE_HOME")
	_ = config.Var("SERVE_MODELS")
}
