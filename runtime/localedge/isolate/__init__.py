"""The child process: loads a worker, builds its env, dispatches events to it."""
