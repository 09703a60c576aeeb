"""What the dialects share: arguments as objects, blocks in order, pairing of results, content as data URLs."""
