"""Reports: the matrix model, and one renderer per format."""
