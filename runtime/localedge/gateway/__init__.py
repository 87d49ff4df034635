"""HTTP in front of the isolates: the route to the worker, control endpoints, error pages."""
