"""Student code runs: the wire, the backends that start a worker, and the sessions that ask it."""
