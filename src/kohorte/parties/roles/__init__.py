"""What each party does in a run: plain sequences of messages; they know no sockets."""
