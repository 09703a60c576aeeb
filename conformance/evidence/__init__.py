"""Evidence from real traffic: recorded exchanges compared with what the profiles predict."""
