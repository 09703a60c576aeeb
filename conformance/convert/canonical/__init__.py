"""What dialects share whose messages are lists of blocks: arguments as objects, blocks in order, media as data URLs."""
