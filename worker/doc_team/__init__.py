"""The example of edgestate.team: a planner, workers and a critic read a set of documents."""
