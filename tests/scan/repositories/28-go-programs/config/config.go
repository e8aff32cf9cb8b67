package config

import (
	"os"
	"strings"
)

func Var(key string) string { return strings.TrimSpace(os.Getenv(key)) }

func Flag(name string) bool { return Var(name) != "" }

func Label(name string) string { return "label " + name }

var debug = Flag("SERVE_DEBUG")
var title = Label("SERVE_TITLE")

func main() {}
