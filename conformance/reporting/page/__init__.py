"""What the HTML page shows: answers as rows of a table, and everything else as compact data for its script."""
