package crawler

// Calm has an engine see a process without load, whatever the machine is doing.
func Calm(e *Engine) { e.look = func() load { return load{} } }
