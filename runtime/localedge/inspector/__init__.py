"""The web page at `/cdn-cgi/localedge/` and its API: what happens in this server, to be seen."""
