"""The parent's side of all processes: fork server, isolates, Valkey, state, clock."""
