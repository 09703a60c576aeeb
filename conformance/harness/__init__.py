"""What plays, judges and serves: everything that touches files, clocks and sockets on behalf of a front door."""
