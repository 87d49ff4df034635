"""The reference worker's agent: books a trip in steps that survive the loss of the worker."""
