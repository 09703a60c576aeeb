"""Hostile peers, full disks, killed processes: nothing leaks and nothing is lost."""
