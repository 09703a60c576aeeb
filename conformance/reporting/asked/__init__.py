"""What `prepare --ask` answers: the first and the second request for a host, a model and a wish, with their claims."""
