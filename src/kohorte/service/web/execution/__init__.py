"""How the work of a request runs: in which threads, when the answer is sent, which jobs a client waits for."""
