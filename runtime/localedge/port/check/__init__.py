"""`localedge check`: what of a project would fail or differ on the edge, with line and fix."""
