package deptest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
)

// forbidden names what library code leaves to the program that embeds it, by import path. No names: the whole package.
var forbidden = map[string][]string{
	"expvar":         nil, // registers a handler
	"flag":           nil,
	"net/http/pprof": nil, // registers handlers
	"os/signal":      nil,

	"fmt": {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"log": {
		"Default", "Fatal", "Fatalf", "Fatalln", "Output", "Panic", "Panicf", "Panicln", "Print", "Printf", "Println",
		"SetFlags", "SetOutput", "SetPrefix", "Writer",
	},
	"log/slog": {
		"Debug", "DebugContext", "Default", "Error", "ErrorContext", "Info", "InfoContext", "Log", "LogAttrs",
		"SetDefault", "SetLogLoggerLevel", "Warn", "WarnContext", "With",
	},
	"mime": {"AddExtensionType"},
	"net/http": {
		"DefaultClient", "DefaultServeMux", "DefaultTransport", "Get", "Handle", "HandleFunc", "Head", "ListenAndServe",
		"ListenAndServeTLS", "Post", "PostForm", "ProxyFromEnvironment",
	},
	"os": {
		"Args", "Chdir", "Clearenv", "Environ", "Exit", "Expand", "ExpandEnv", "Getenv", "LookupEnv", "Setenv", "Stderr",
		"Stdin", "Stdout", "Unsetenv",
	},
	"runtime/debug": {"PrintStack", "SetGCPercent", "SetMaxStack", "SetMaxThreads", "SetMemoryLimit", "SetPanicOnFault"},
	"syscall":       {"Clearenv", "Environ", "Getenv", "Setenv", "Setrlimit", "Stderr", "Stdin", "Stdout", "Unsetenv"},
}

// CheckHabits returns where library code does what belongs to programs, and where it has init functions, one line
// each. Programs, tests, packages made for tests and everything in modules that are never released are left out.
func CheckHabits(packages []Package) []string {
	var faults []string
	for _, p := range packages {
		if p.Main() || p.Support() || p.unreleased() {
			continue
		}
		for _, f := range p.Files {
			if !f.Test {
				faults = append(faults, checkFile(p.Set, f)...)
			}
		}
	}
	return faults
}

func checkFile(set *token.FileSet, f File) []string {
	var faults []string
	complain := func(n ast.Node, what string) {
		at := set.Position(n.Pos())
		faults = append(faults, fmt.Sprintf("%s:%d: %s", f.Name, at.Line, what))
	}
	imports := map[string]string{} // local name: path
	for _, spec := range f.AST.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		names, known := forbidden[name]
		local := path.Base(name)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		switch {
		case known && names == nil:
			complain(spec, "imports "+name)
		case known && local == ".":
			complain(spec, "imports "+name+" without a name")
		case known:
			imports[local] = name
		}
	}
	var excused ast.Expr
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil {
				complain(n, "has an init function")
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && n != excused && slices.Contains(forbidden[imports[x.Name]], n.Sel.Name) {
				complain(n, "uses "+imports[x.Name]+"."+n.Sel.Name)
			}
		case *ast.CallExpr:
			if x, ok := n.Fun.(*ast.Ident); ok && (x.Name == "print" || x.Name == "println") {
				complain(n, "uses the builtin "+x.Name)
			}
			if readsMemoryLimit(n) {
				excused = n.Fun
			}
		}
		return true
	})
	return faults
}

// readsMemoryLimit recognises SetMemoryLimit(-1), which changes nothing and has no other name.
func readsMemoryLimit(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "SetMemoryLimit" || len(call.Args) != 1 {
		return false
	}
	arg, ok := call.Args[0].(*ast.UnaryExpr)
	return ok && arg.Op == token.SUB
}
